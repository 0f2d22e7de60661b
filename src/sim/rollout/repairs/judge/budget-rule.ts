/** Updates and repairs together never take more machines out of service than the policy allows. */
import { MACHINES } from '../../../../api/generated/resources.ts';
import type { RemedyOperationJob } from '../../../../api/generated/types.ts';
import type { SimulatedApi } from '../../../api-server/simulated-api.ts';
import type { SimulatedHost } from '../../hosts.ts';
import type { LedgerRules } from './ledger-rules.ts';

export interface Budget {
  readonly jobs: readonly RemedyOperationJob[];
  readonly hosts: ReadonlyMap<string, SimulatedHost>;
  readonly api: Pick<SimulatedApi, 'get'>;
  readonly ledgers: Pick<LedgerRules, 'isDisruptive'>;
  readonly maxUnavailable: number;
}

export function budgetOf(budget: Budget): { readonly busy: number; readonly violations: readonly string[] } {
  const repaired = budget.jobs.filter(isAtWork).map(({ spec }) => spec.machine.name);
  const busy = new Set([...repaired, ...updated(budget)]).size;
  const { maxUnavailable } = budget;
  const violations =
    busy > maxUnavailable ? [`updates and repairs on ${busy} machines, and ${maxUnavailable} allowed`] : [];
  return { busy, violations };
}

/** From its first step to its outcome. */
function isAtWork({ spec, status }: RemedyOperationJob): boolean {
  const isNode = spec.risk === 'Node' || spec.risk === 'Machine';
  const hasBegun = (status?.steps ?? []).some(({ state }) => state !== 'Pending' && state !== 'Skipped');
  return isNode && hasBegun && status?.outcome === undefined;
}

/** Their hosts are at work on an update whose grant is one of the limited ones. */
function updated({ hosts, api, ledgers }: Budget): readonly string[] {
  return [...hosts.values()].flatMap((host) => {
    const entries = api.get(MACHINES, host.name)?.spec.components ?? [];
    const isBusy = entries.some(
      ({ name, grant }) =>
        host.components.get(name)?.work !== undefined &&
        grant !== undefined &&
        ledgers.isDisruptive(grant.id),
    );
    return isBusy ? [host.name] : [];
  });
}
