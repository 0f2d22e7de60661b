/** Changes where other machines reach a control plane: in its state file, with the ports of its gateways. */
import { optional } from '../../../../../kube/objects/optional.ts';
import { type ExposureState, type FleetState, writeState } from '../../../../../local/state.ts';
import type { Clock } from '../../../../../os/clock.ts';
import { GATEWAYS, type OutsideAddress, OWN_CONTROLLERS, type PlaneMember } from '../../driver.ts';
import { portsFolder, usedPorts } from '../folder.ts';
import type { OpenPlane } from '../plane.ts';
import { releaseUnused } from '../preparation/claim-sweep.ts';
import { notPrepared } from '../preparation/refusals.ts';
import { forgetStarts, type PlaneRecord } from '../records.ts';
import { endProcesses } from '../stop.ts';
import { claimExposure } from './claim.ts';

export interface ExposureTools {
  readonly dir: string;
  readonly clock: Clock;
}

export async function changeOutside(
  found: OpenPlane,
  outside: OutsideAddress | undefined,
  tools: ExposureTools,
): Promise<void> {
  const { state, record } = found;
  if (!state || !record) throw notPrepared(found, GATEWAYS[0]);
  // Ports of an attempt that was interrupted.
  await releaseUnused(tools.dir, record, state);
  if (isSame(state.clusters[0]?.exposure, outside)) return;
  await recordOutside({ ...found, state, record }, outside, tools);
}

type PreparedPlane = OpenPlane & { readonly state: FleetState; readonly record: PlaneRecord };

/**
 * The new port comes first: where it is refused, the former one stays in service. What is started with something else then ends before the record:
 * killed in between, hosting does the same again, or starts it as it was.
 */
async function recordOutside(
  found: PreparedPlane,
  outside: OutsideAddress | undefined,
  { dir, clock }: ExposureTools,
): Promise<void> {
  const { state, record, layout } = found;
  const place = { folder: portsFolder(dir), cluster: record.cluster, scratch: layout.root };
  const own = usedPorts(record, state);
  const before = state.clusters[0]?.exposure;
  // A disk that is full, or that is read only, is found before anything is claimed, or ends.
  await writeState(layout.stateFile, state);
  const exposure = outside && (await claimExposure(outside, place, before, own));
  const hasOtherPort = before?.port !== outside?.port;
  await endMembers(found, hasOtherPort ? [...GATEWAYS, OWN_CONTROLLERS] : [OWN_CONTROLLERS], clock);
  const changed = withExposure(state, exposure);
  await writeState(layout.stateFile, changed);
  await releaseUnused(dir, record, changed);
}

function isSame(before: OutsideAddress | undefined, after: OutsideAddress | undefined): boolean {
  return before?.host === after?.host && before?.port === after?.port;
}

function withExposure(state: FleetState, changed: ExposureState | undefined): FleetState {
  const clusters = state.clusters.map((cluster) => {
    const { exposure: _, ...inside } = cluster;
    return { ...inside, ...optional('exposure', changed) };
  });
  return { ...state, clusters };
}

/** Our own controllers give hosts the address with which they were started. That members end for a change is not a crash. */
async function endMembers(found: OpenPlane, members: readonly PlaneMember[], clock: Clock): Promise<void> {
  for (const member of members) {
    await forgetStarts(found.layout.root, member);
    const spec = found.specs.find((each) => each.member === member);
    if (spec) await endProcesses(found, spec, clock);
  }
}
