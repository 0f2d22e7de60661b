/**
 * Defines what the machine controller asks of a provider of machines. One suite checks all of them: test/providers/contract/.
 *
 * The UID of the Machine is the token of its instance: however often and from wherever `create` is called with it, there is at most one
 * instance, also after it was deleted. A call that was stopped by its signal, or by the end of the process, may be repeated. What a
 * provider returns or stores never contains the bootstrap file, except where only the host can read it.
 */
import type { MachineBMC, MachineImport, MachineInfra, MachineInfraStatus } from '../api/generated/types.ts';

/** Holds what is known of a provider before it is opened. */
export interface ProviderKind {
  readonly name: MachineInfra['provider'];
  readonly capabilities: ProviderCapabilities;
  /** Tells whether there is an instance to create and to delete. There is none when the host exists already and joins by itself. */
  hasInstance(request: InstanceShape): boolean;
  /** Returns why there can be no such instance, for people; undefined: accepted. Needs no request. */
  configReason(request: InstanceShape): string | undefined;
  /** Tells whether the host of such an instance joins with a bootstrap file. */
  needsBootstrap(request: InstanceShape): boolean;
  /** Returns the platform of the host of such an instance; undefined: not known, or its agent downloads nothing. Needs no request. */
  platformOf?(request: InstanceShape): InstancePlatform | undefined;
}

export interface InstancePlatform {
  readonly os: 'linux' | 'darwin';
  /** Undefined: not known. */
  readonly arch?: 'amd64' | 'arm64';
}

export interface Provider extends ProviderKind {
  /**
   * Returns the id of the instance, the one that exists or a new one. A host that has not joined gets the bootstrap file of the last call, or
   * with `bootstrapsOnce` that of the first.
   */
  create(request: InstanceRequest, signal: AbortSignal): Promise<string>;
  /** Returns the instance; undefined: not found. For a minute after `create` that means unknown. */
  get(id: string, signal: AbortSignal): Promise<Instance | undefined>;
  /**
   * Returns all instances with these tags, by id. An instance without our tags is never listed. With the UID of a Machine an instance is as
   * `get` returns it. In a list of several its state may be Unknown, and its addresses may be missing: a cloud counts the requests for each.
   */
  find(tags: InstanceFilter, signal: AbortSignal): Promise<readonly Instance[]>;
  /** Deletes the instance, and succeeds also when it does not exist. When it resolves, nothing of the instance runs or costs anything. */
  delete(id: string, signal: AbortSignal): Promise<void>;
  /**
   * Lets go of an instance that could not be deleted in time: it is not found any more, and no Machine gets its host. Absent: an instance of
   * this provider is deleted, however long it takes.
   */
  abandon?(id: string, signal: AbortSignal): Promise<void>;
  /** Resolves when the switch was accepted. The state may follow later; after `cycle` the instance is starting. */
  power(id: string, action: PowerAction, signal: AbortSignal): Promise<void>;
  /** Returns the announced maintenance, which is empty without the capability. */
  events(signal: AbortSignal): Promise<readonly InstanceEvent[]>;
  /**
   * Checks credentials and each right that the calls above need, and changes nothing. With a shape it also tries whether such an instance could
   * be created. Absent: this provider has no account.
   */
  check?(shape: InstanceShape | undefined, signal: AbortSignal): Promise<readonly ProviderCheck[]>;
  /**
   * Answers an announced event of one of our instances. It resolves when the provider has accepted the answer; what follows takes time, and
   * another boot shows it. Rejects as Terminal for an answer that the provider does not take. Absent: it takes none.
   */
  answer?(answer: EventAnswer, signal: AbortSignal): Promise<void>;
}

export interface ProviderCheck {
  /** The right as the provider names it, such as ec2:RunInstances. */
  readonly right: string;
  /** Refused: the credentials are missing, wrong or expired. Unknown: it was not tried, or the answer shows neither. */
  readonly result: 'Allowed' | 'Missing' | 'Refused' | 'Unknown';
  readonly message: string;
}

export interface ProviderCapabilities {
  readonly power: boolean;
  readonly events: boolean;
  /** Whether nothing but the machine controller starts an instance that ended. */
  readonly startsStopped: boolean;
  /** Whether a host gets its bootstrap file when its instance is created, and never later. */
  readonly bootstrapsOnce?: true;
  /** Whether the provider counts requests. Then an instance whose agent is alive is read once an hour. */
  readonly countsRequests?: true;
  /** Whether an instance is listed some time after its creation, so that one whose answer was lost cannot be found at once. */
  readonly listsLate?: true;
}

/** Holds the properties that a Machine asks for in its instance. */
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
  /** The kubeconfig of `kubenode machine token`, which is a secret. */
  readonly bootstrap?: string;
}

/** The tags on each instance, by which it is found again when the answer to its creation was lost. */
export interface InstanceTags {
  readonly clusterUid: string;
  readonly machineUid: string;
  readonly set?: string;
}

/** Selects instances by tags, always of one cluster: instances of another one are never ours. */
export type InstanceFilter = Pick<InstanceTags, 'clusterUid'> & Partial<InstanceTags>;

export interface Instance {
  /** The id, `<provider>://…`, at most 256 characters. */
  readonly id: string;
  readonly machine: string;
  readonly tags: InstanceTags;
  readonly state: NonNullable<MachineInfraStatus['state']>;
  readonly zone?: string;
  readonly addresses: NonNullable<MachineInfraStatus['addresses']>;
  readonly createdAt: Date;
  /** How the machine controller imports its host. Absent: the host joins by itself. */
  readonly import?: MachineImport;
  /** The BMC of its host, which the pool lists. */
  readonly bmc?: MachineBMC;
}

export type PowerAction = 'off' | 'on' | 'cycle';

export interface InstanceEvent {
  /** The id of the event, the same for a repeated notice. */
  readonly eventId: string;
  readonly instanceId: string;
  readonly type: string;
  readonly notBefore?: Date;
  readonly deadline?: Date;
}

export interface EventAnswer extends Pick<InstanceEvent, 'eventId' | 'instanceId'> {
  /** Accept: what the provider proposes may begin. StartNow: it begins now. */
  readonly answer: 'Accept' | 'StartNow';
}

/** The code of an error of a provider, by what a caller can do about it. */
export type ProviderErrorCode =
  | 'Retryable' // nothing happened, or it may be repeated: later, or after `retryAfterSeconds`
  | 'Quota' // no capacity or limit reached: others have to free something
  | 'Auth' // credentials or permissions have to be fixed
  | 'NotFound' // the instance does not exist
  | 'Terminal' // never succeeds unchanged: `reason` is the cause
  | 'Ambiguous'; // it may have happened: `find` by tag before the next `create`

export interface ProviderErrorDetails {
  /** The reason in CamelCase, for conditions. It defaults to the code. */
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
