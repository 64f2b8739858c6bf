#!/bin/sh
#SBATCH --ntasks=4
#SBATCH --requeue
#SBATCH --open-mode=append
export GOSSAMER_TOKEN="${GOSSAMER_TOKEN:-$(openssl rand -hex 16)}"
run=run-$SLURM_JOB_ID
last=$(ls -t "$run"-*/checkpoints/*/manifest 2> /dev/null | head -n 1)
exec srun gossamer node --slurm --insecure -- train "$@" --out "$run-${SLURM_RESTART_COUNT:-0}" \
  ${last:+--resume "${last%%/*}"}
