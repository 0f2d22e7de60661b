/** Reads and switches the power of one system of a BMC by Redfish. Its UUID is compared in the same session, before anything else counts. */

import { ProviderError } from '../contract.ts';
import type { PowerState } from '../power.ts';
import { onlySystem, type RedfishSystem, readActionInfo, readSystem, resetTypeFor } from './answers.ts';
import type { BmcAnswer, BmcEndpoint } from './connection.ts';
import { requireSameSystem } from './identity.ts';
import { type BmcCall, type BmcCredentials, withSession } from './session.ts';

export interface RedfishTarget {
  readonly endpoint: BmcEndpoint;
  readonly credentials: BmcCredentials;
  /** Absent: the BMC has one system. */
  readonly system?: string;
  /** The UUID that the system must have. */
  readonly systemUuid: string;
}

export async function readPower(target: RedfishTarget, signal: AbortSignal): Promise<PowerState> {
  const { endpoint, credentials } = target;
  return await withSession(
    endpoint,
    credentials,
    async (call) => (await readVerified(target, call)).power,
    signal,
  );
}

/** Requests the state, unless the system has it. */
export async function requestPower(
  target: RedfishTarget,
  wanted: 'On' | 'Off',
  signal: AbortSignal,
): Promise<void> {
  const { endpoint, credentials } = target;
  await withSession(
    endpoint,
    credentials,
    async (call) => {
      const { power, reset } = await readVerified(target, call);
      if (power === wanted) return;
      if (!reset) {
        throw new ProviderError('Terminal', 'the system of the BMC has no action ComputerSystem.Reset', {
          reason: 'ResetTypeNotSupported',
        });
      }
      const body = { ResetType: resetTypeFor(wanted, await allowedTypes(reset, call)) };
      await call(`request power ${wanted}`, { method: 'POST', path: reset.target, body });
    },
    signal,
  );
}

export interface VerifiedSystem extends RedfishSystem {
  readonly path: string;
  readonly answer: BmcAnswer;
}

/** Reads the system. Throws for that of another host. */
export async function readVerified(
  { system, systemUuid }: RedfishTarget,
  call: BmcCall,
): Promise<VerifiedSystem> {
  const path =
    system === undefined ? await findSystem(call) : `/redfish/v1/Systems/${encodeURIComponent(system)}`;
  const answer = await call('read the system', { method: 'GET', path });
  const found = readSystem(answer.body);
  requireSameSystem(systemUuid, found.uuid);
  return { ...found, path, answer };
}

async function findSystem(call: BmcCall): Promise<string> {
  const { body } = await call('list the systems', { method: 'GET', path: '/redfish/v1/Systems' });
  return onlySystem(body);
}

async function allowedTypes(
  { allowed, info }: NonNullable<RedfishSystem['reset']>,
  call: BmcCall,
): Promise<readonly string[] | undefined> {
  if (allowed !== undefined || info === undefined) return allowed;
  const { body } = await call('read the reset types', { method: 'GET', path: info });
  return readActionInfo(body);
}
