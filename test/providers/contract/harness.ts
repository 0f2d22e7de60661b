/** What the contract suite needs to know of a provider beside the contract. */
import { randomUUID } from 'node:crypto';
import type {
  InstanceRequest,
  InstanceShape,
  Provider,
  ProviderErrorCode,
} from '../../../src/providers/contract.ts';
import type { ProviderEntry } from '../../../src/providers/registry.ts';

export interface ContractHarness extends AsyncDisposable {
  /** Another one while `fail` is in effect. */
  readonly provider: Provider;
  /** As another process sees it, for example after a restart of the controllers. */
  reopen(): Promise<Provider>;
  /** Hosts that run for this Machine, counted where they run and not by the provider. */
  countHosts(machineUid: string): Promise<number>;
  /** The host ends without anybody's call, as in a power failure. */
  crash(machineUid: string): Promise<void>;
  /** All texts that others than the host can see: files, tags, command lines. */
  visibleTexts(): Promise<readonly string[]>;
  /** Makes calls of `create` fail with this code until the result is called. */
  fail(how: ProviderErrorCode): Promise<() => Promise<void>>;
  /** Puts the fault between the provider and its cloud, for the next request of this call that it can happen to. */
  inject(fault: ContractFault, call: ContractCall): Promise<void>;
  /** An id of the form of this provider that no instance has. */
  unusedId(): string;
  /** The id of the instance that this Machine would get. Undefined: its cloud chooses it. */
  futureId(machineUid: string): string | undefined;
  /** What others do in the account of the cloud. Absent: this provider has none. */
  readonly account?: CloudAccount;
}

export interface CloudAccount {
  /** Has the cloud refuse these calls with expired credentials until the result is called. */
  expire(calls: readonly ContractCall[]): () => void;
  /** Deletes the instance of this Machine past the provider. */
  removeByHand(machineUid: string): Promise<void>;
  /** Makes a second instance with the tags of this Machine past the provider. */
  copyByHand(machineUid: string): Promise<void>;
  /** Named: instances are found by their tags, so that both are named. NotOurs: they are found by their name, which a copy cannot have. */
  readonly copies: 'Named' | 'NotOurs';
}

/** What may happen between a provider and its cloud. */
export type ContractFault =
  | 'AnswerLost' // it happened, and the connection ended before the answer
  | 'TimeOutAfterSuccess' // it happened, and there is no answer in time
  | 'Throttled' // it did not happen: the answer has Retry-After with 7 seconds
  | 'StaleList' // the list is older than the newest instance
  | 'WrongOrder' // the list has its entries in another order
  | 'HalfPage'; // the list ends in its middle

export type ContractCall = 'create' | 'get' | 'find' | 'delete' | 'power' | 'events';

/** Why no fault is injected into a provider that sends nothing over a network to a cloud. */
export function noFaults(reason: string): Readonly<Record<ContractFault, string>> {
  return {
    AnswerLost: reason,
    TimeOutAfterSuccess: reason,
    Throttled: reason,
    StaleList: reason,
    WrongOrder: reason,
    HalfPage: reason,
  };
}

export interface ContractProvider {
  readonly entry: ProviderEntry;
  /** Each is created in each case. */
  readonly accepted: Readonly<Record<string, InstanceShape>>;
  /** Why a short run has all cases for each shape, too, and not for one of them. */
  readonly everyShape?: string;
  /** Each with a part of the reason. */
  readonly refused: Readonly<Record<string, readonly [shape: InstanceShape, reason: string]>>;
  /** What `fail` can bring about. */
  readonly failures: readonly ProviderErrorCode[];
  /** Why `fail` can bring about none. */
  readonly withoutFailures?: string;
  /** The faults that cannot happen to it, each with the reason. */
  readonly withoutFaults: Readonly<Partial<Record<ContractFault, string>>>;
  /** Why others can do nothing in an account of its cloud. */
  readonly withoutAccount?: string;
  /** Why this machine cannot run the suite for it. */
  readonly unavailable?: string | undefined;
  /** Starts what all cases share. The result ends it. */
  readonly prepare?: () => Promise<() => Promise<void>>;
  open(): Promise<ContractHarness>;
}

export const CLUSTER = 'c0000000-0000-4000-8000-000000000001';
export const OTHER_CLUSTER = 'c0000000-0000-4000-8000-000000000002';
/** Searched for wherever it must not be. */
export const SECRET = 'abcdef.0123456789abcdef';

export function requestOf(shape: InstanceShape, changes: RequestChanges = {}): InstanceRequest {
  const {
    machineUid = randomUUID(),
    clusterUid = CLUSTER,
    set,
    machine = 'n1',
    bootstrap = SECRET,
  } = changes;
  const tags = { clusterUid, machineUid, ...(set === undefined ? {} : { set }) };
  return { ...shape, machine, tags, bootstrap };
}

interface RequestChanges {
  readonly machineUid?: string;
  readonly clusterUid?: string;
  readonly set?: string;
  readonly machine?: string;
  readonly bootstrap?: string;
}

export const NEVER: AbortSignal = new AbortController().signal;
