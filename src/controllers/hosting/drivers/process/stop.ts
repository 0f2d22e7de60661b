/** Stops members, and gives the clients of an API server the time to reach another one. */
import { listProcesses } from '../../../../local/processes/observe.ts';
import type { Clock } from '../../../../os/clock.ts';
import { stopProcess } from '../../../../os/process/child.ts';
import { isApiServer } from '../driver.ts';
import type { MemberSpec } from './member-spec.ts';
import type { OpenPlane } from './plane.ts';

/** The data is deleted, or the member starts again from its data: nothing is lost by a kill. */
const TERM_MS = 3000;
/** An API server of several serves for two seconds more, ends its watches within another one, and then what is in flight. */
const GRACEFUL_MS = 15_000;
/** An API server that leaves its port to balancers closes it at once, and its watches would keep it: clients wait meanwhile. */
const DIRECT_MS = 1000;

/** Ends every process that is the member. */
export async function endProcesses(found: OpenPlane, spec: MemberSpec, clock: Clock): Promise<void> {
  const ms = termMs(found, spec);
  const running = (await listProcesses()).filter(({ command }) => spec.matches(command));
  await Promise.all(
    running.map((each) => stopProcess(each, clock, spec.isDirect?.(each.command) ? DIRECT_MS : ms)),
  );
}

export function hasSeveral(state: OpenPlane['state']): boolean {
  return (
    state?.clusters.some(({ apiServers }) => apiServers !== undefined && apiServers.replicas > 1) === true
  );
}

/** Requests that others could answer are not cut off. Where nothing else answers, a slow end would only be a longer outage. */
function termMs({ state, record }: OpenPlane, { member }: MemberSpec): number {
  if (!isApiServer(member) || record?.isDestroying === true) return TERM_MS;
  return hasSeveral(state) ? GRACEFUL_MS : TERM_MS;
}
