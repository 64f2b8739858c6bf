// gossamer completion: what completes commands, flags and their values in bash and in zsh.
#include "gossamer/apps/detail/job_form.hpp"
#include "gossamer/apps/detail/manual.hpp"
#include "gossamer/base/error.hpp"
#include "gossamer/base/spec.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <map>

namespace gossamer::apps {

namespace {

std::string in_quotes(std::string_view text) {
  std::string result = "'";
  for (const char c : text)
    result += c == '\'' ? std::string{"'\\''"} : std::string(1, c);
  return result + "'";
}

std::string function_name(const program& p) {
  std::string name = "_" + p.name();
  for (auto& c : name)
    if (!std::isalnum(static_cast<unsigned char>(c)))
      c = '_';
  return name;
}

std::vector<std::string> command_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const auto& group : commands_of(app))
    for (const auto* command : group.commands)
      names.push_back(command->get_name());
  return names;
}

// -- bash -------------------------------------------------------------------------------------------------------------

std::string bash_offer(const offers& o) {
  std::string line;
  if (!o.words.empty())
    line += fmt::format(" words={}", in_quotes(fmt::format("{}", fmt::join(o.words, " "))));
  if (!o.parts.empty())
    line += fmt::format(" parts={}", in_quotes(fmt::format("{}", fmt::join(o.parts, " "))));
  if (o.files || o.folders)
    line += o.files ? " paths=-f" : " paths=-d";
  return line.empty() ? " :" : line;
}

/// Returns the cases "COMMAND FLAG) what is offered ;;", joined where several offer the same.
std::string bash_cases(const program& p, const CLI::App& app) {
  std::map<std::string, std::vector<std::string>> commands_of_offer;
  for (const auto& name : command_names(app)) {
    const auto text = describe(*app.get_subcommand(name));
    for (const auto& flag : text.flags())
      if (!flag.value.empty())
        commands_of_offer[bash_offer(offers_for(p, name, flag))].push_back(
            in_quotes(fmt::format("{} {}", name, flag.names.back())));
    for (const auto& word : text.words)
      commands_of_offer[bash_offer(offers_for(p, name, word))].push_back(in_quotes(name + " word"));
  }
  std::string cases;
  for (const auto& [offer, commands] : commands_of_offer)
    cases += fmt::format("    {}){} ;;\n", fmt::join(commands, "|"), offer);
  return cases;
}

std::string bash_flags(const CLI::App& app) {
  std::string cases;
  for (const auto& name : command_names(app)) {
    std::vector<std::string> flags;
    for (const auto& flag : describe(*app.get_subcommand(name)).flags())
      for (const auto& spelling : flag.names)
        if (spelling.starts_with("--"))
          flags.push_back(spelling);
    cases += fmt::format("    {}) flags='{}' ;;\n", name, fmt::join(flags, " "));
  }
  return cases;
}

/// Returns the cases "COMMAND) what may follow behind --".
std::string bash_jobs() {
  std::string cases;
  for (const auto& form : job_forms) {
    std::string words{form.words};
    std::ranges::replace(words, '|', ' ');
    cases += words.empty() ? fmt::format("        {}) command={} ;;\n", form.of, form.command)
                           : fmt::format("        {}) command= job='{}' ;;\n", form.of, words);
  }
  return cases;
}

constexpr auto bash_script = R"(# Completes the words behind {name} in bash; printed by: {name} completion bash
{function}_case() # what is offered for the value of flag $2 of command $1, or for its words
{{
  case "$1 $2" in
{cases}    *) return 1 ;;
  esac
}}

{function}()
{{
  # The words as they were typed: bash takes them apart at colons and equals signs.
  local -a typed=()
  local i piece glue=
  for ((i = 0; i <= COMP_CWORD; i++)); do
    piece=${{COMP_WORDS[i]}}
    if ((${{#typed[@]}} > 1)) && [[ $glue || $piece == [:=]* ]]; then
      typed[-1]+=$piece
    else
      typed+=("$piece")
    fi
    glue=
    [[ $piece == *[:=] ]] && glue=yes
  done

  # Behind -- there is another command line.
  local command= job= current=${{typed[-1]}} before=${{typed[-2]}}
  for piece in "${{typed[@]:1:${{#typed[@]}}-2}}"; do
    if [[ $piece == -- && ! $job ]]; then
      job=yes
      case $command in
{jobs}        *) return ;;
      esac
    elif [[ ! $command ]]; then
      command=$piece
    fi
  done
  if [[ $current == --*=* ]]; then
    before=${{current%%=*}} current=${{current#*=}}
  fi

  local words= parts= paths= flags=
  COMPREPLY=()
  if [[ ! $command ]]; then
    words='{commands}'
    [[ $job ]] && words=$job
    [[ $current == -* ]] && words='--help --version'
  elif ! [[ $before == --?* ]] || ! {function}_case "$command" "$before"; then
    case $command in
{flags}    esac
    if [[ $current == -* ]]; then
      words=$flags
    else
      {function}_case "$command" word
    fi
  fi

  if [[ $parts && $current == *:* ]]; then
    # The parameters that may follow the name, behind those that are there.
    local name=${{current%%:*}} there=${{current%[:,]*}} key
    there=${{current:0:${{#there}}+1}}
    for key in $parts; do
      [[ $key == "$name":* && $there${{key#*:}} == "$current"* ]] && COMPREPLY+=("$there${{key#*:}}")
    done
    compopt -o nospace 2>/dev/null
  else
    COMPREPLY=($(compgen -W "$words" -- "$current"))
  fi
  if [[ $paths ]]; then
    compopt -o filenames 2>/dev/null
    while IFS= read -r piece; do COMPREPLY+=("$piece"); done < <(compgen "$paths" -- "$current")
  fi
  # bash replaces only what follows the last colon or equals sign.
  if [[ $current == *[:=]* && $COMP_WORDBREAKS == *[:=]* ]]; then
    piece=${{current%"${{current##*[:=]}}"}}
    COMPREPLY=("${{COMPREPLY[@]#"$piece"}}")
  fi
}}
complete -F {function} {name}
)";

// -- zsh --------------------------------------------------------------------------------------------------------------

/// Returns a text for a part of a specification of `_arguments`, whose own signs are escaped.
std::string zsh_text(std::string_view text) {
  std::string result;
  for (const char c : text) {
    if (c == '[' || c == ']' || c == ':' || c == '\\')
      result += '\\';
    result += c;
  }
  return result;
}

std::string zsh_action(const offers& o) {
  std::vector<std::string> actions;
  if (!o.words.empty())
    actions.push_back(fmt::format("({})", fmt::join(o.words, " ")));
  if (o.files)
    actions.emplace_back("_files");
  else if (o.folders)
    actions.emplace_back("_files -/");
  if (actions.empty())
    return " ";
  return actions.size() == 1
             ? actions.front()
             : fmt::format("_alternative \"words:word:{}\" \"paths:path:{}\"", actions.front(), actions.back());
}

std::string zsh_flag(const program& p, const std::string& command, const flag_text& flag) {
  std::string lines;
  for (const auto& name : flag.names) {
    const auto value = flag.value.empty()
                           ? std::string{}
                           : fmt::format(":{}:{}", zsh_text(flag.value), zsh_action(offers_for(p, command, flag)));
    const auto form = flag.value.empty() || !name.starts_with("--") ? name : name + '=';
    lines += fmt::format("        {} \\\n", in_quotes(fmt::format("{}{}[{}]{}", flag.repeatable ? "*" : "", form,
                                                                  zsh_text(flag.meaning), value)));
  }
  return lines;
}

std::string zsh_cases(const program& p, const CLI::App& app) {
  std::string cases;
  for (const auto& name : command_names(app)) {
    const auto text = describe(*app.get_subcommand(name));
    cases += fmt::format("    {})\n      _arguments -s \\\n", name);
    for (const auto& flag : text.flags())
      cases += zsh_flag(p, name, flag);
    for (const auto& word : text.words)
      cases += fmt::format("        {} \\\n",
                           in_quotes(fmt::format("{}:{}:{}",
                                                 word.repeatable ? "*"
                                                 : word.required ? "1"
                                                                 : "1:",
                                                 zsh_text(word.value), zsh_action(offers_for(p, name, word)))));
    cases += "        && return 0 ;;\n";
  }
  return cases;
}

std::string zsh_commands(const CLI::App& app) {
  std::string lines;
  for (const auto& group : commands_of(app))
    for (const auto* command : group.commands)
      lines += fmt::format("    {}\n", in_quotes(command->get_name() + ":" + zsh_text(command->get_description())));
  return lines;
}

/// Returns the cases "COMMAND) words of another command line".
std::string zsh_jobs(const program& p) {
  std::string cases;
  for (const auto& form : job_forms) {
    const auto* const behind = "\"${(@)words[dashes+1,-1]}\"";
    cases += form.words.empty()
                 ? fmt::format("      {}) words=({} {} {}); (( CURRENT -= dashes - 2 )) ;;\n", form.of, p.name(),
                               form.command, behind)
                 : fmt::format("      {}) words=({} {}); (( CURRENT -= dashes - 1 )) ;;\n", form.of, p.name(), behind);
  }
  return cases;
}

constexpr auto zsh_script = R"(#compdef {name}
# Completes the words behind {name} in zsh; printed by: {name} completion zsh
{function}() {{
  local -a commands=(
{commands}  )
  # Behind -- there is another command line.
  local dashes=${{words[(i)--]}}
  if (( dashes < CURRENT )); then
    case ${{words[2]}} in
{jobs}      *) return 1 ;;
    esac
  fi
  if (( CURRENT == 2 )); then
    _describe command commands
    return
  fi
  local command=${{words[2]}}
  shift words
  (( CURRENT-- ))
  case $command in
{cases}  esac
  return 1
}}
if [[ $zsh_eval_context[-1] == loadautofunc ]]; then
  {function} "$@"
else
  compdef {function} {name}
fi
)";

} // namespace

std::string bash_completion(const program& p, const CLI::App& app) {
  return fmt::format(bash_script, fmt::arg("name", p.name()), fmt::arg("function", function_name(p)),
                     fmt::arg("cases", bash_cases(p, app)), fmt::arg("jobs", bash_jobs()),
                     fmt::arg("flags", bash_flags(app)),
                     fmt::arg("commands", fmt::format("{}", fmt::join(command_names(app), " "))));
}

std::string zsh_completion(const program& p, const CLI::App& app) {
  return fmt::format(zsh_script, fmt::arg("name", p.name()), fmt::arg("function", function_name(p)),
                     fmt::arg("commands", zsh_commands(app)), fmt::arg("cases", zsh_cases(p, app)),
                     fmt::arg("jobs", zsh_jobs(p)));
}

void print_completion(const program& p, const CLI::App& app, const std::string& shell) {
  if (shell != "bash" && shell != "zsh")
    throw unknown_name("shell", shell, std::vector<std::string>{"bash", "zsh"});
  fmt::print("{}", shell == "bash" ? bash_completion(p, app) : zsh_completion(p, app));
}

} // namespace gossamer::apps
