/** Reads the allowance that a cluster has, and writes it by compare-and-swap. */
import { FLEET_ALLOWANCES } from '../../api/generated/resources.ts';
import type { FleetAllowance, FleetAllowanceSpec } from '../../api/generated/types.ts';
import { FLEET_ALLOWANCE, MANAGER_FLEET_LIMITS } from '../../api/names.ts';
import { API_VERSION } from '../../api/version.ts';
import type { Freshness } from '../../kube/cache/reflector.ts';
import type { View } from '../../kube/cache/view.ts';
import type { Client } from '../../kube/client/client.ts';
import { isKubeError } from '../../kube/client/errors.ts';
import type { Log } from '../../kube/process/log.ts';
import type { ClusterReading } from './leader.ts';

export interface AllowanceConnection {
  readonly client: Client;
  readonly view: View<FleetAllowance>;
}

/** Others get nothing on the base of a watch that fails for longer. */
const MAX_ERROR_MS = 30_000;
const MAX_AGE_MS = 150_000;
const WRITE_MS = 10_000;

export function readAllowance({ reflector, store }: View<FleetAllowance>): ClusterReading {
  const freshness = reflector.freshness();
  if (freshness.error?.code === 'NotFound') {
    return { because: 'the cluster has no kind FleetAllowance: run kubenode install', notServed: true };
  }
  const because = unreadReason(freshness);
  return because === undefined ? { allowance: store.get({ name: FLEET_ALLOWANCE }) ?? 'None' } : { because };
}

function unreadReason({ synced, ageMs, error }: Freshness): string | undefined {
  if (error && (!synced || ageMs > MAX_ERROR_MS)) return error.message;
  if (!synced) return 'not read yet';
  return ageMs > MAX_AGE_MS ? `its watch is silent for ${Math.round(ageMs / 1000)} s` : undefined;
}

/** The server did not store it, or it was never sent. Every other error leaves it open. */
const REFUSED = [
  'Conflict',
  'AlreadyExists',
  'Forbidden',
  'Unauthorized',
  'Invalid',
  'NotFound',
  'TooManyRequests',
  'Credentials',
] as const;

export interface AllowanceWrite {
  readonly spec: FleetAllowanceSpec;
  /** The allowance as it was read: it is written only while the cluster has that one. */
  readonly base: FleetAllowance | 'None';
}

export async function writeAllowance(
  { client, view }: AllowanceConnection,
  { spec, base }: AllowanceWrite,
  log: Log,
): Promise<'Written' | 'NotWritten'> {
  const call = { fieldManager: MANAGER_FLEET_LIMITS, timeoutMs: WRITE_MS };
  const metadata = base === 'None' ? { name: FLEET_ALLOWANCE } : base.metadata;
  const object = { apiVersion: API_VERSION, kind: FLEET_ALLOWANCES.kind, metadata, spec };
  try {
    const verb = base === 'None' ? 'create' : 'replace';
    view.wrote(await client[verb](FLEET_ALLOWANCES, object, call));
    return 'Written';
  } catch (error) {
    if (!isKubeError(error, ...REFUSED)) throw error;
    log.warn('allowance not written', { error });
    return 'NotWritten';
  }
}
