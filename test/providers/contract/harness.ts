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
}

export interface ContractProvider {
  readonly entry: ProviderEntry;
  /** Each is created in each case. */
  readonly accepted: Readonly<Record<string, InstanceShape>>;
  /** Each with a part of the reason. */
  readonly refused: Readonly<Record<string, readonly [shape: InstanceShape, reason: string]>>;
  /** What `fail` can bring about. */
  readonly failures: readonly ProviderErrorCode[];
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
