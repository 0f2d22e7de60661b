/**
 * What the machine controller asks of a provider of machines. One suite checks all of them: test/providers/contract/.
 *
 * The UID of the Machine is the token of its instance: however often and from wherever `create` is called with it, there is at most
 * one instance, also after it was deleted. A call that was stopped by its signal, or by the end of the process, may be repeated.
 * What a provider returns or stores never contains the bootstrap file, except where only the host can read it.
 */
import type { MachineInfra, MachineInfraStatus } from '../api/generated/types.ts';

export interface Provider {
  readonly name: MachineInfra['provider'];
  readonly capabilities: ProviderCapabilities;
  /** False: the host is there already and joins by itself, so that there is nothing to create or to delete. */
  hasInstance(request: InstanceShape): boolean;
  /** Why there can be no such instance, for people; undefined: accepted. Needs no request. */
  configReason(request: InstanceShape): string | undefined;
  /** Whether the host of such an instance joins with a bootstrap file. */
  needsBootstrap(request: InstanceShape): boolean;
  /** The id of the instance, the one that exists or a new one. A host that has not joined gets the bootstrap file of the last call. */
  create(request: InstanceRequest, signal: AbortSignal): Promise<string>;
  /** Undefined: not found. For a minute after `create` that means unknown. */
  get(id: string, signal: AbortSignal): Promise<Instance | undefined>;
  /** All instances with these tags, by id. An instance without our tags is never listed. */
  find(tags: InstanceFilter, signal: AbortSignal): Promise<readonly Instance[]>;
  /** Of an instance that does not exist as well. When it resolves nothing of the instance runs or costs anything. */
  delete(id: string, signal: AbortSignal): Promise<void>;
  power(id: string, action: PowerAction, signal: AbortSignal): Promise<void>;
  /** Announced maintenance. Empty without the capability. */
  events(signal: AbortSignal): Promise<readonly InstanceEvent[]>;
}

export interface ProviderCapabilities {
  readonly power: boolean;
  readonly events: boolean;
  /** Nothing else starts an instance that ended: the machine controller does. */
  readonly startsStopped: boolean;
}

/** What a Machine asks for. */
export interface InstanceShape {
  readonly config: Readonly<Record<string, unknown>>;
  /** spec.host.type of the Machine. */
  readonly host: 'systemd' | 'sandbox';
  readonly zone?: string;
}

export interface InstanceRequest extends InstanceShape {
  /** The name of the Machine. */
  readonly machine: string;
  readonly tags: InstanceTags;
  /** The kubeconfig of `kubenode machine token`. A secret. */
  readonly bootstrap?: string;
}

/** On each instance, so that it is found again when the answer to its creation was lost. */
export interface InstanceTags {
  readonly clusterUid: string;
  readonly machineUid: string;
  readonly set?: string;
}

/** Always of one cluster: instances of another one are never ours. */
export type InstanceFilter = Pick<InstanceTags, 'clusterUid'> & Partial<InstanceTags>;

export interface Instance {
  /** `<provider>://…`, at most 256 characters. */
  readonly id: string;
  readonly machine: string;
  readonly tags: InstanceTags;
  readonly state: NonNullable<MachineInfraStatus['state']>;
  readonly zone?: string;
  readonly addresses: NonNullable<MachineInfraStatus['addresses']>;
  readonly createdAt: Date;
}

export type PowerAction = 'off' | 'on' | 'cycle';

export interface InstanceEvent {
  /** The same for a repeated notice. */
  readonly eventId: string;
  readonly instanceId: string;
  readonly type: string;
  readonly notBefore?: Date;
  readonly deadline?: Date;
}

/** What a caller can do about it. */
export type ProviderErrorCode =
  | 'Retryable' // nothing happened, or it may be repeated: later, or after `retryAfterSeconds`
  | 'Quota' // no capacity or limit reached: others have to free something
  | 'Auth' // credentials or permissions have to be fixed
  | 'NotFound' // the instance does not exist
  | 'Terminal' // never succeeds unchanged: `reason` is the cause
  | 'Ambiguous'; // it may have happened: `find` by tag before the next `create`

export interface ProviderErrorDetails {
  /** CamelCase, for conditions. Default: the code. */
  readonly reason?: string;
  readonly retryAfterSeconds?: number;
  readonly cause?: unknown;
}

export class ProviderError extends Error {
  override readonly name = 'ProviderError';
  readonly code: ProviderErrorCode;
  readonly reason: string;
  readonly retryAfterSeconds: number | undefined;

  constructor(code: ProviderErrorCode, message: string, details: ProviderErrorDetails = {}) {
    super(message, { cause: details.cause });
    this.code = code;
    this.reason = details.reason ?? code;
    this.retryAfterSeconds = details.retryAfterSeconds;
  }
}

export function isProviderError(error: unknown, ...codes: ProviderErrorCode[]): error is ProviderError {
  return error instanceof ProviderError && (codes.length === 0 || codes.includes(error.code));
}
