/** Changes where other machines reach a control plane: in its state file, with the ports of its gateways. */
import { optional } from '../../../../../kube/objects/optional.ts';
import { listPorts } from '../../../../../local/processes/desired-state.ts';
import { listProcesses } from '../../../../../local/processes/observe.ts';
import { type ExposureState, type FleetState, writeState } from '../../../../../local/state.ts';
import type { Clock } from '../../../../../os/clock.ts';
import { HostingError } from '../../../errors.ts';
import { GATEWAYS, isGateway, type OutsideAddress, OWN_CONTROLLERS } from '../../driver.ts';
import { portsFolder } from '../folder.ts';
import { findMember } from '../members.ts';
import type { OpenPlane } from '../plane.ts';
import { releaseClaims } from '../preparation/port-claims.ts';
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
  const before = state.clusters[0]?.exposure;
  if (isSame(before, outside)) return;
  if (before?.port !== outside?.port) await requireEnded(found);
  await recordOutside({ ...found, state, record }, outside, tools);
}

type PreparedPlane = OpenPlane & { readonly state: FleetState; readonly record: PlaneRecord };

/** Our own controllers end before the record: killed in between, hosting does the same again. */
async function recordOutside(
  found: PreparedPlane,
  outside: OutsideAddress | undefined,
  { dir, clock }: ExposureTools,
): Promise<void> {
  const { state, record, layout } = found;
  const place = { folder: portsFolder(dir), cluster: record.cluster, scratch: layout.root };
  const release = (kept: FleetState): Promise<void> =>
    releaseClaims(place.folder, place.cluster, [...listPorts(kept), record.controllersPort ?? 0]);
  // Ports of an attempt that was interrupted.
  await release(state);
  const exposure = outside && (await claimExposure(outside, place, state.clusters[0]?.exposure));
  await endControllers(found, clock);
  const changed = withExposure(state, exposure);
  await writeState(layout.stateFile, changed);
  await release(changed);
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

/** They give hosts the address with which they were started. That they end is not a crash. */
async function endControllers(found: OpenPlane, clock: Clock): Promise<void> {
  const spec = found.specs.find(({ member }) => member === OWN_CONTROLLERS);
  await forgetStarts(found.layout.root, OWN_CONTROLLERS);
  if (spec) await endProcesses(found, spec, clock);
}

async function requireEnded({ specs, layout }: OpenPlane): Promise<void> {
  const processes = await listProcesses();
  const running = specs.find((spec) => isGateway(spec.member) && findMember(spec, processes));
  if (!running) return;
  throw new HostingError('NotStopped', `${running.member} runs, and has the former port`, {
    where: layout.root,
    hint: 'nothing to do: hosting stops it first',
  });
}
