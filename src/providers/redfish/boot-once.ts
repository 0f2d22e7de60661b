/**
 * Boots a system from another device at its next start, and as before after that. The setting is read back: a BMC that keeps the device for
 * every start would have its host boot from the network for good.
 */
import { optional } from '../../kube/objects/optional.ts';
import { isProviderError, ProviderError } from '../contract.ts';
import type { BootDevice } from '../power.ts';
import { type BootOverride, readBoot } from './answers.ts';
import type { BmcAnswer } from './connection.ts';
import { type BmcCall, withSession } from './session.ts';
import { type RedfishTarget, readVerified } from './system.ts';

const NOT_SUPPORTED = { reason: 'BootOnceNotSupported' } as const;
/** The setting of a system that boots as its firmware decides. */
const NO_OVERRIDE: BootOverride = { mode: 'Disabled', device: 'None' };

/** Resolves when the BMC reads back the device for one start; undefined: for none. Rejects with Ambiguous where the device may be set. */
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
  await write(call, { path, answer, override: { mode: 'Once', device } }).catch((error: unknown) => {
    throw isProviderError(error, 'Retryable') ? maybeSet(error) : error;
  });
  const found = await verifyOnce(target, { device, before }, call).catch((error: unknown) => {
    throw isProviderError(error) ? maybeSet(error) : error;
  });
  if (found === undefined) return;
  const message = `the BMC does not boot from ${device} once: it reads back ${found}. The setting was put back`;
  throw new ProviderError('Terminal', message, NOT_SUPPORTED);
}

interface WrittenDevice {
  readonly device: BootDevice;
  readonly before: BootOverride;
}

/** Reads the setting back. Returns what was found in its place, and puts back what was before; undefined: the device is set for one start. */
async function verifyOnce(
  target: RedfishTarget,
  { device, before }: WrittenDevice,
  call: BmcCall,
): Promise<string | undefined> {
  const { path, answer } = await readVerified(target, call);
  const after = readBoot(answer.body);
  if (after.mode === 'Once' && after.device === device) return undefined;
  await write(call, { path, answer, override: { ...NO_OVERRIDE, ...before } });
  return `${after.mode ?? 'no mode'} and ${after.device ?? 'no device'}`;
}

/** Marks an error that came after the request was sent: the device may be set. */
function maybeSet(error: ProviderError): ProviderError {
  const { message, reason } = error;
  return new ProviderError('Ambiguous', message, { reason, cause: error });
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
