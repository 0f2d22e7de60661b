/**
 * Has a system boot from another device at its next start, and as before after that. The setting is read back: a BMC that keeps the device for
 * every start would have its host boot from the network for good.
 */
import { optional } from '../../kube/objects/optional.ts';
import { ProviderError } from '../contract.ts';
import type { BootDevice } from '../power.ts';
import { type BootOverride, readBoot } from './answers.ts';
import type { BmcAnswer } from './connection.ts';
import { type BmcCall, withSession } from './session.ts';
import { type RedfishTarget, readVerified } from './system.ts';

const NOT_SUPPORTED = { reason: 'BootOnceNotSupported' } as const;
/** The setting of a system that boots as its firmware decides. */
const NO_OVERRIDE: BootOverride = { mode: 'Disabled', device: 'None' };

/** Resolves when the BMC reads back the device for one start; undefined: for none. */
export async function setBootOnce(
  target: RedfishTarget,
  device: BootDevice | undefined,
  signal: AbortSignal,
): Promise<void> {
  const { endpoint, credentials } = target;
  await withSession(endpoint, credentials, (call) => change(target, device, call), signal);
}

async function change(target: RedfishTarget, device: BootDevice | undefined, call: BmcCall): Promise<void> {
  const { path, answer } = await readVerified(target, call);
  const before = readBoot(answer.body);
  if (device === undefined) return await write(call, { path, answer, override: NO_OVERRIDE });
  requireAllowed(device, before.allowed);
  await write(call, { path, answer, override: { mode: 'Once', device } });
  const read = await readVerified(target, call);
  const after = readBoot(read.answer.body);
  if (after.mode === 'Once' && after.device === device) return;
  await write(call, { path, answer: read.answer, override: { ...NO_OVERRIDE, ...before } });
  const found = `${after.mode ?? 'no mode'} and ${after.device ?? 'no device'}`;
  const message = `the BMC does not boot from ${device} once: it reads back ${found}. The setting was put back`;
  throw new ProviderError('Terminal', message, NOT_SUPPORTED);
}

function requireAllowed(device: BootDevice, allowed: readonly string[] | undefined): void {
  if (allowed === undefined || allowed.includes(device)) return;
  const permitted = allowed.join(', ').slice(0, 200) || 'none';
  const message = `the BMC permits no boot from ${device}. It permits: ${permitted}`;
  throw new ProviderError('Terminal', message, NOT_SUPPORTED);
}

interface BootWrite {
  readonly path: string;
  /** The answer that was read before: a BMC may ask for its version. */
  readonly answer: BmcAnswer;
  readonly override: BootOverride;
}

async function write(call: BmcCall, { path, answer, override }: BootWrite): Promise<void> {
  const { mode, device } = override;
  const body = { Boot: { BootSourceOverrideEnabled: mode, BootSourceOverrideTarget: device } };
  const { etag } = answer.headers;
  const headers = etag === undefined ? undefined : { 'if-match': etag };
  await call('set the boot device', { method: 'PATCH', path, body, ...optional('headers', headers) });
}
