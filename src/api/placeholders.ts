/** Placeholders that the agent replaces in a MachineComponent. No npm package here: the agent imports this file. */

/** Replaced in `content`, `argv`, `env` and probes. */
export const MACHINE_PLACEHOLDERS = [
  'dir',
  'data',
  'machine.name',
  'machine.address',
  'machine.zone',
] as const;

/** Replaced in `content`, `argv` and `env` only. */
export const CLUSTER_PLACEHOLDERS = ['cluster.server', 'cluster.caFile', 'identity.kubeconfig'] as const;

/** `${param.NAME}` and `${port.NAME}`: a declared parameter or port. */
export const DECLARED_PLACEHOLDERS = ['param.NAME', 'port.NAME'] as const;

/** For descriptions of fields. */
export function placeholderList(...names: readonly string[]): string {
  return names.map((name) => `\${${name}}`).join(', ');
}
