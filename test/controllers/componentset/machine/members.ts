/** Machines of a set for tests, in one word each. */
import type {
  LedgerGrant,
  MachineComponentEntry,
  MachineComponentReport,
  MachineStatus,
} from '../../../../src/api/generated/types.ts';
import { entriesDigest } from '../../../../src/api/machine/entry-report.ts';
import type { ObservedMember } from '../../../../src/controllers/componentset/machine/member-state.ts';
import type { Condition } from '../../../../src/kube/objects/conditions.ts';
import type { KubeObject } from '../../../../src/kube/objects/object.ts';
import { ago, type ComponentVersion, component, machine, NOW, node } from '../../../support/builders.ts';
import { ownEntries } from '../managed-fields.ts';

export const SET = 'general';
export const OLD = component('kubelet', '1.1');
export const NEW = component('kubelet', '1.2');
export const GENERATION = 7;

export interface MemberParts {
  /** Of the entry; none: the set has assigned nothing. */
  readonly version?: ComponentVersion | 'None';
  readonly batch?: number;
  /** That assigned it. */
  readonly set?: string;
  /** Of the report. */
  readonly report?: Partial<MachineComponentReport> | 'None';
  readonly observedGeneration?: number;
  /** The agent reports the digest of these entries. */
  readonly entriesObserved?: boolean;
  /** Seconds since the start of the update, while its grant is in the ledger. */
  readonly startedAgo?: number;
  readonly heardAgo?: number | 'Never';
  readonly node?: KubeObject | 'None';
  /** Seconds since the Ready condition changed. */
  readonly readyChangedAgo?: number;
  readonly pins?: readonly string[];
  readonly annotations?: Readonly<Record<string, string>>;
  /** Of the Machine. */
  readonly conditions?: readonly Condition[];
  readonly patrol?: ObservedMember['patrol'];
  /** What the machine controller reports. */
  readonly status?: Pick<MachineStatus, 'waiting' | 'drain'>;
}

/** Settled at NEW in batch 1, without a grant. */
export function observed(parts: MemberParts = {}): ObservedMember {
  const { annotations = {}, observedGeneration = GENERATION } = parts;
  const { components, own } = entriesOf(parts);
  const metadata = { generation: GENERATION, annotations, managedFields: [ownEntries(...own)] };
  const status = {
    agent: {
      observedGeneration,
      ...(parts.entriesObserved ? { entriesDigest: entriesDigest({ components }) } : {}),
    },
    components: reportsOf(parts),
    node: { uid: 'node-1' },
    conditions: parts.conditions ?? [],
    ...parts.status,
  };
  return {
    machine: machine('m-1', { metadata, spec: { components }, status }),
    node: nodeOf(parts),
    heardAt: heardAt(parts),
    ...(parts.startedAgo === undefined ? {} : { grant: grantOf(parts.startedAgo) }),
    ...(parts.patrol ? { patrol: parts.patrol } : {}),
  };
}

function entriesOf(parts: MemberParts): {
  readonly components: readonly MachineComponentEntry[];
  readonly own: readonly string[];
} {
  const { version = NEW, pins = [] } = parts;
  const components = version === 'None' ? [] : [entryOf(version, parts)];
  return { components, own: components.map(({ name }) => name).filter((name) => !pins.includes(name)) };
}

export function grantOf(startedAgo: number, more: Partial<LedgerGrant> = {}): LedgerGrant {
  return {
    id: 'g-1-1',
    fence: 1,
    state: 'Started',
    holder: { kind: 'MachineComponentSet', name: SET, revision: 'r-new' },
    action: 'UpdateComponent',
    risk: 'Pod',
    issuedAt: ago(startedAgo),
    notAfter: ago(startedAgo - 300),
    ...more,
  };
}

function entryOf(version: ComponentVersion, { batch = 1, set = SET }: MemberParts): MachineComponentEntry {
  const revision = version === OLD ? 'r-old' : 'r-new';
  return { ...version, state: 'Present', parameters: {}, assignment: { set, revision, batch } };
}

function reportsOf({ version = NEW, report = {} }: MemberParts): readonly MachineComponentReport[] {
  if (report === 'None' || version === 'None') return [];
  const { name, componentRef, digest } = version;
  const usual = { state: 'Committed', running: true, ready: true } as const;
  return [{ name, desiredRef: componentRef, currentRef: componentRef, digest, ...usual, ...report }];
}

function nodeOf({ node: its = node('m-1'), readyChangedAgo }: MemberParts): KubeObject | undefined {
  if (its === 'None') return undefined;
  if (readyChangedAgo === undefined) return its;
  const { conditions } = its['status'] as { readonly conditions: readonly object[] };
  const changed = conditions.map((each) => ({ ...each, lastTransitionTime: ago(readyChangedAgo) }));
  return { ...its, status: { conditions: changed } };
}

function heardAt({ heardAgo = 5 }: MemberParts): Date | undefined {
  return heardAgo === 'Never' ? undefined : new Date(NOW.getTime() - heardAgo * 1000);
}
