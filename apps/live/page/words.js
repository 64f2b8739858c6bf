// Numbers and names for people.

/** 1234567 -> "1.23 M". */
export function withPrefix(value) {
  if (!Number.isFinite(value)) return "–";
  for (const prefix of ["", " k", " M", " G", " T"]) {
    if (Math.abs(value) < 999.5) return `${+value.toPrecision(3)}${prefix}`;
    value /= 1000;
  }
  return `${+value.toPrecision(3)} P`;
}

export function seconds(s) {
  if (s === null || !Number.isFinite(s)) return "–";
  if (s < 1) return `${+s.toPrecision(3)} s`;
  if (s < 120) return `${s.toFixed(1)} s`;
  const whole = Math.ceil(s);
  const minutes = Math.floor(whole / 60) % 60;
  const rest = `${String(minutes).padStart(2, "0")}:${String(whole % 60).padStart(2, "0")}`;
  return whole < 3600 ? rest : `${Math.floor(whole / 3600)}:${rest}`;
}

export const percent = share => (share === null || share === undefined ? "–" : `${(100 * share).toFixed(2)} %`);

export const real = value => (value === null || value === undefined ? "–" : `${+value.toPrecision(4)}`);
