// A contributor that tells which language the shell of a command speaks: it owns DSH_SHELL_DIALECT.

#include "shell_env_contributor.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define KEY "DSH_SHELL_DIALECT"

static const struct {
  const char *tool, *dialect;
} dialects[] = {
    {"bash", "posix"},
    {"sh", "posix"},
    {"zsh", "posix"},
    {"fish", "fish"},
    {"nu", "nu"},
    {"pwsh", "powershell"},
};

// Zeroed memory. Without any left it says so in the host's log, and gives up: abort is a trap.
static void *allocate(size_t size) {
  void *memory = calloc(1, size);
  if (memory == NULL) {
    fputs("shell-dialect: out of memory\n", stderr);
    abort();
  }
  return memory;
}

// The dialect of a tool, or NULL when it is not a shell that is known here.
static const char *dialect_of(shell_env_contributor_string_t tool) {
  for (size_t i = 0; i < sizeof dialects / sizeof *dialects; i++) {
    // What the host hands over has a length and no NUL at its end.
    if (tool.len == strlen(dialects[i].tool) && memcmp(tool.ptr, dialects[i].tool, tool.len) == 0)
      return dialects[i].dialect;
  }
  return NULL;
}

// Asked once, at load: everything this contributor may ever return. The bindings free what `declaration` points to as
// soon as the host has read it, so strings are copied and lists allocated.
void exports_dsh_shell_env_contributor_declare(exports_dsh_shell_env_contributor_declaration_t *declaration) {
  *declaration = (exports_dsh_shell_env_contributor_declaration_t){0};
  shell_env_contributor_string_dup(&declaration->name, "shell-dialect");

  exports_dsh_shell_env_contributor_variable_t *variable = allocate(sizeof *variable);
  shell_env_contributor_string_dup(&variable->key, KEY);
  shell_env_contributor_string_dup(
      &variable->description,
      "The language that the shell of this command speaks: `posix`, `fish`, `nu` or `powershell`. A hint and no "
      "credential. Absent when the command is run by no shell that is known.");
  declaration->variables.ptr = variable;
  declaration->variables.len = 1;
}

// Asked for every shell call, in a fresh instance: what is true now. Returning false with a message in `error` would
// fail the call.
bool exports_dsh_shell_env_contributor_resolve(exports_dsh_shell_env_contributor_execution_t *execution,
                                               exports_dsh_shell_env_contributor_list_binding_t *bindings,
                                               shell_env_contributor_string_t *error) {
  const char *dialect = dialect_of(execution->tool);
  exports_dsh_shell_env_contributor_execution_free(execution);
  (void)error;

  *bindings = (exports_dsh_shell_env_contributor_list_binding_t){0};
  if (dialect == NULL) return true;

  exports_dsh_shell_env_contributor_binding_t *binding = allocate(sizeof *binding);
  shell_env_contributor_string_dup(&binding->key, KEY);
  shell_env_contributor_string_dup(&binding->value, dialect);
  bindings->ptr = binding;
  bindings->len = 1;
  return true;
}
