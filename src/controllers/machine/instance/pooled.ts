/** Machines whose host comes from a pool: they are imported like those that name their host. Pure. */
import type { Machine, MachineImport } from '../../../api/generated/types.ts';

/** Tells whether the host is one that the provider has to find first. */
export function isPooled({ spec }: Machine): boolean {
  return (
    spec.import === undefined && spec.infra.provider === 'ssh' && Object.keys(spec.infra.config).length > 0
  );
}

/** Returns the machine as if it named its host. It is never written. */
export function withImport(machine: Machine, host: MachineImport | undefined): Machine {
  if (host === undefined || machine.spec.import) return machine;
  return { ...machine, spec: { ...machine.spec, import: host } };
}
