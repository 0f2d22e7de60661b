/** Changes how many API servers a control plane has: in its state file, with the ports of those that there can be. */
import { listPorts } from '../../../../../local/processes/desired-state.ts';
import { listProcesses } from '../../../../../local/processes/observe.ts';
import { type ApiServersState, type FleetState, writeState } from '../../../../../local/state.ts';
import { HostingError } from '../../../errors.ts';
import { API_SERVERS } from '../../driver.ts';
import { portsFolder } from '../folder.ts';
import { findMember } from '../members.ts';
import type { OpenPlane } from '../plane.ts';
import { claimPort, releaseClaims } from '../preparation/port-claims.ts';
import { notPrepared } from '../preparation/refusals.ts';
import { forgetStarts } from '../records.ts';
import { forgetRun } from '../runs.ts';
import { newServers } from './ports.ts';

/** The record of a former API server is removed before it is counted again: it may name a version of long ago. */
export async function changeCount(found: OpenPlane, count: number, dir: string): Promise<void> {
  const { state, record, layout } = found;
  if (!state || !record) throw notPrepared(found, 'kube-apiserver');
  const before = countOf(state);
  if (before === count) return;
  await requireEnded(found, count);
  for (const member of API_SERVERS.slice(before, count)) {
    await forgetStarts(layout.root, member);
    await forgetRun(layout.root, member);
  }
  const changed = await countedServers(found, count, dir);
  await writeState(layout.stateFile, withServers(state, changed));
}

function countOf({ clusters }: FleetState): number {
  return clusters[0]?.apiServers?.replicas ?? 1;
}

/** Resolves to undefined where the only API server still has the port of clients, and needs no balancer. */
async function countedServers(
  found: OpenPlane,
  count: number,
  dir: string,
): Promise<ApiServersState | undefined> {
  const before = found.state?.clusters[0]?.apiServers;
  if (before) return count === 1 && (await isDirect(found)) ? undefined : { ...before, replicas: count };
  return await claimServers(found, count, dir);
}

/** Ports of an attempt that was interrupted are released first. */
async function claimServers(
  { state, record, layout }: OpenPlane,
  count: number,
  dir: string,
): Promise<ApiServersState | undefined> {
  if (!state || !record) return undefined;
  const folder = portsFolder(dir);
  await releaseClaims(folder, record.cluster, [...listPorts(state), record.controllersPort ?? 0]);
  return await newServers(count, () => claimPort(folder, record.cluster, layout.root));
}

function withServers(state: FleetState, changed: ApiServersState | undefined): FleetState {
  const clusters = state.clusters.map((cluster) => {
    const { apiServers: _, ...single } = cluster;
    return changed ? { ...cluster, apiServers: changed } : single;
  });
  return { ...state, clusters };
}

/** Tells whether the first API server has the port of clients: it was not started again since there were to be several. */
async function isDirect({ specs }: OpenPlane): Promise<boolean> {
  const spec = specs.find(({ member }) => member === API_SERVERS[0]);
  const process = spec && findMember(spec, await listProcesses());
  return process !== undefined && spec?.isDirect?.(process.command) === true;
}

async function requireEnded({ specs, layout }: OpenPlane, count: number): Promise<void> {
  const processes = await listProcesses();
  const removed = API_SERVERS.slice(count);
  const running = specs.find(
    (spec) => removed.some((member) => member === spec.member) && findMember(spec, processes),
  );
  if (!running) return;
  throw new HostingError('NotStopped', `${running.member} runs, and is not to be counted any more`, {
    where: layout.root,
    hint: 'nothing to do: hosting stops it first',
  });
}
