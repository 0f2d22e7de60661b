/** Reads the answers of a Redfish service: what a system is, what resets it permits, and what an error means to a caller. Pure. */
import { isRecord, listAt, textAt, valueAt } from '../../kube/objects/json.ts';
import { optional } from '../../kube/objects/optional.ts';
import { ProviderError } from '../contract.ts';
import type { PowerState } from '../power.ts';

export interface RedfishSystem {
  readonly power: PowerState;
  readonly uuid?: string;
  readonly reset?: ResetAction;
}

export interface ResetAction {
  readonly target: string;
  /** Absent: the service does not tell. */
  readonly allowed?: readonly string[];
  /** The path of a document that tells which types are allowed. */
  readonly info?: string;
}

const POWER: Readonly<Record<string, PowerState>> = {
  On: 'On',
  Off: 'Off',
  PoweringOn: 'Changing',
  PoweringOff: 'Changing',
};

export function readSystem(body: unknown): RedfishSystem {
  const state = textAt(body, 'PowerState') ?? '';
  const action = valueAt(body, 'Actions', '#ComputerSystem.Reset');
  const target = pathIn(textAt(action, 'target'));
  const allowed = textsAt(action, 'ResetType@Redfish.AllowableValues');
  return {
    // Paused, and words of a vendor, prove nothing.
    power: (Object.hasOwn(POWER, state) && POWER[state]) || 'Unknown',
    ...optional('uuid', textAt(body, 'UUID')),
    ...optional(
      'reset',
      target === undefined
        ? undefined
        : {
            target,
            ...optional('allowed', allowed),
            ...optional('info', pathIn(textAt(action, '@Redfish.ActionInfo'))),
          },
    ),
  };
}

/** Holds what a system boots from at its next start. */
export interface BootOverride {
  /** Once, Continuous or Disabled. */
  readonly mode?: string;
  readonly device?: string;
}

/** Reads the boot setting, with the devices that are allowed. Absent: the service does not tell. */
export function readBoot(body: unknown): BootOverride & { readonly allowed?: readonly string[] } {
  const boot = valueAt(body, 'Boot');
  return {
    ...optional('mode', textAt(boot, 'BootSourceOverrideEnabled')),
    ...optional('device', textAt(boot, 'BootSourceOverrideTarget')),
    ...optional('allowed', textsAt(boot, 'BootSourceOverrideTarget@Redfish.AllowableValues')),
  };
}

/** Returns the reset types that a document of an action lists. */
export function readActionInfo(body: unknown): readonly string[] | undefined {
  const parameter = listAt(body, 'Parameters').find((each) => textAt(each, 'Name') === 'ResetType');
  return textsAt(parameter, 'AllowableValues');
}

function textsAt(value: unknown, field: string): readonly string[] | undefined {
  const found = isRecord(value) ? value[field] : undefined;
  return Array.isArray(found) ? found.filter((each) => typeof each === 'string') : undefined;
}

/**
 * The reset types that reach a state, best first. GracefulShutdown is not among them: a kernel that hangs may read the signal hours later, and
 * PushPowerButton turns on what is off.
 */
const RESET_TYPES: Readonly<Record<'On' | 'Off', readonly string[]>> = {
  On: ['On', 'ForceOn'],
  Off: ['ForceOff'],
};

/** Returns the type to request. Throws when the service permits none. */
export function resetTypeFor(wanted: 'On' | 'Off', allowed: readonly string[] | undefined): string {
  const types = RESET_TYPES[wanted];
  const found = types.find((type) => allowed === undefined || allowed.includes(type));
  if (found !== undefined) return found;
  const permitted = (allowed ?? []).join(', ') || 'none';
  const message = `the BMC permits no reset of type ${types.join(' or ')}. It permits: ${permitted.slice(0, 200)}`;
  throw new ProviderError('Terminal', message, { reason: 'ResetTypeNotSupported' });
}

/** Returns the path of the only system. */
export function onlySystem(body: unknown): string {
  const members = listAt(body, 'Members').flatMap((each) => pathIn(textAt(each, '@odata.id')) ?? []);
  const [only, ...others] = members;
  if (only !== undefined && others.length === 0) return only;
  const ids = members.map((path) => path.slice(path.lastIndexOf('/') + 1)).join(', ');
  const found = members.length === 0 ? 'none' : `${members.length} (${ids.slice(0, 200)})`;
  throw new ProviderError('Terminal', `the BMC has not one system, but ${found}: set bmc.system`, {
    reason: 'SystemNotNamed',
  });
}

/** Returns the path of a link of the service; undefined: it leads elsewhere. Another host is never called. */
export function pathIn(link: string | undefined): string | undefined {
  if (link === undefined || link.length > 1024) return undefined;
  const path = URL.parse(link, 'https://bmc')?.pathname;
  return path?.startsWith('/redfish/v1') ? path : undefined;
}

export interface BmcErrorAnswer {
  readonly status: number;
  readonly retryAfter?: string | undefined;
  readonly body: unknown;
}

/** Returns what the status of an answer means; undefined: it succeeded. The text of the service is not quoted: it may contain anything. */
export function answerError(what: string, answer: BmcErrorAnswer): ProviderError | undefined {
  const { status, body } = answer;
  if (status >= 200 && status < 300) return undefined;
  const id = messageId(body);
  const message = `${what}: the BMC answered ${status}${id === undefined ? '' : ` (${id})`}`;
  if (REFUSES_ACCOUNT.includes(status)) {
    const hint = 'Check the Secret of bmc.credentialsRef and the role of the account';
    return new ProviderError('Auth', `${message}. ${hint}`);
  }
  if (status >= 500 || BUSY.includes(status)) return busyError(message, id, answer);
  const reason = status === 404 ? 'SystemNotFound' : 'RefusedByBMC';
  return new ProviderError('Terminal', message, { reason });
}

const REFUSES_ACCOUNT = [401, 403];
/** Time-out, conflict with an act that is under way, and too many requests. */
const BUSY = [408, 409, 429];

function busyError(message: string, id: string | undefined, { retryAfter }: BmcErrorAnswer): ProviderError {
  const seconds = /^\d{1,5}$/.test(retryAfter ?? '') ? Number(retryAfter) : undefined;
  return new ProviderError('Retryable', message, {
    reason: id?.endsWith('SessionLimitExceeded') ? 'SessionLimitReached' : 'BMCBusy',
    ...optional('retryAfterSeconds', seconds),
  });
}

function messageId(body: unknown): string | undefined {
  const [first] = listAt(body, 'error', '@Message.ExtendedInfo');
  const id = textAt(first, 'MessageId') ?? textAt(body, 'error', 'code');
  return id !== undefined && /^[A-Za-z0-9._]{1,80}$/.test(id) ? id : undefined;
}
