/** Lists the processes of the kubelets of the host, so that those are known that started with other authorities. */
import { processIdentity } from '../component/drift/trust.ts';
import type { Host, UnitDefinition, UnitStatus } from '../host/port.ts';
import type { Target } from '../target/target.ts';

type KubeletTarget = Pick<Target, 'identity' | 'units'>;

/** A component with the targets whose units may run. */
export interface KubeletTargets {
  readonly current?: KubeletTarget;
  readonly previous?: KubeletTarget;
  readonly desired: { readonly state: string; readonly target?: KubeletTarget };
}

/** Returns the kubelets that run. Undefined: one may run whose process is not known, for example while it starts. */
export async function listKubelets(
  { units, node }: Pick<Host, 'units' | 'node'>,
  components: Iterable<KubeletTargets>,
): Promise<readonly string[] | undefined> {
  const bootId = await node.bootId();
  const found: string[] = [];
  for (const unit of kubeletUnits(components)) {
    const status = await units.status(unit);
    if (status?.process) found.push(processIdentity(bootId, status.process));
    else if (mayRun(status)) return undefined;
  }
  return found;
}

function kubeletUnits(components: Iterable<KubeletTargets>): Iterable<UnitDefinition> {
  const targets = [...components].flatMap(({ current, previous, desired }) => [
    current,
    previous,
    desired.target,
  ]);
  const kubelets = targets.flatMap((target) => (target?.identity === 'Kubelet' ? target.units : []));
  // A hook is active without a process after it succeeded.
  const services = kubelets.filter(({ type }) => type === 'Service');
  return new Map(services.map((unit) => [unit.name, unit])).values();
}

function mayRun(status: UnitStatus | undefined): boolean {
  return status !== undefined && status.active !== 'Inactive' && status.active !== 'Failed';
}
