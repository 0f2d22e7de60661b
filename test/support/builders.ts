/**
 * Objects for tests: valid as they come, and overridden where a test is about something. A fleet is written in words,
 * one a machine: `fleet('done moving behind')`. A test that needs more than five lines to set up wants a new word here.
 */
import { createHash } from 'node:crypto';
import type { Condition, Machine, MachineComponentReport } from '../../src/api/generated/types.ts';
import type { KubeObject, Metadata } from '../../src/kube/objects/object.ts';
import { NOW } from './virtual-clock.ts';

export { NOW } from './virtual-clock.ts';

/** The version that a fleet is on its way to, and the one that it comes from. */
export const WANTED = component('kubelet', '1.34.2');
export const BEFORE = component('kubelet', '1.34.1');

export interface ComponentVersion {
  readonly name: string;
  readonly componentRef: string;
  readonly digest: string;
}

export function component(name: string, version: string): ComponentVersion {
  const digest = createHash('sha256').update(`${name}-${version}`).digest('hex');
  return { name, componentRef: `${name}-${version}`, digest: `sha256:${digest}` };
}

/** The moment so long before NOW. */
export function ago(seconds: number): string {
  return new Date(NOW.getTime() - seconds * 1000).toISOString().replace('.000Z', 'Z');
}

const AN_HOUR = 3600;

export function condition(
  type: string,
  status: Condition['status'],
  fields: Partial<Condition> = {},
): Condition {
  const usual = {
    reason: status === 'True' ? 'AsItShould' : 'NotYet',
    message: '',
    lastTransitionTime: ago(AN_HOUR),
  };
  return { type, status, ...usual, ...fields };
}

export function configMap(
  name: string,
  data: Readonly<Record<string, string>> = {},
  metadata: Partial<Metadata> = {},
): KubeObject {
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { namespace: 'default', ...metadata, name }, data };
}

/** A Node as a kubelet keeps it. */
export function node(
  name: string,
  ready: Condition['status'] = 'True',
  metadata: Partial<Metadata> = {},
): KubeObject {
  const heartbeat = { lastHeartbeatTime: ago(10) };
  const conditions = [{ ...condition('Ready', ready, { reason: 'KubeletReady' }), ...heartbeat }];
  const labels = { 'kubernetes.io/hostname': name, ...metadata.labels };
  return {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { ...metadata, name, labels },
    spec: {},
    status: { conditions },
  };
}

export interface MachineParts {
  readonly metadata?: Partial<Metadata>;
  readonly spec?: Partial<Machine['spec']>;
  readonly status?: Partial<NonNullable<Machine['status']>>;
}

/** Ready, and running what it should. */
export function machine(name: string, { metadata = {}, spec = {}, status = {} }: MachineParts = {}): Machine {
  return {
    apiVersion: 'kubenode.dev/v1alpha1',
    kind: 'Machine',
    metadata: { generation: 1, uid: uidOf(name), ...metadata, name },
    spec: {
      infra: { provider: 'local', config: {} },
      host: { type: 'systemd' },
      node: { labels: {}, annotations: {}, taints: [] },
      readinessGates: [],
      minReadySeconds: 0,
      components: [entry(WANTED)],
      agentEpoch: 0,
      deletion: { drain: 'Respect', drainTimeoutSeconds: 1800, timeoutSeconds: 7200, cleanup: 'Restore' },
      ...spec,
    },
    status: {
      observedGeneration: 1,
      conditions: healthy(),
      components: [report(WANTED, 'Committed')],
      ...status,
    },
  };
}

/** What each word of a fleet means. */
const WORDS = {
  /** Runs what is wanted, for long enough to be believed. */
  done: {},
  /** The same, but only just. */
  fresh: { status: { components: [report(WANTED, 'Committed', ago(1))] } },
  /** Told to change, and at it. */
  moving: { status: { components: [report(WANTED, 'Activating')] } },
  failed: { status: { components: [report(WANTED, 'Failed')] } },
  /** Not told yet. */
  behind: { spec: { components: [entry(BEFORE)] }, status: { components: [report(BEFORE, 'Committed')] } },
  /** Behind, and not Ready. */
  sick: {
    spec: { components: [entry(BEFORE)] },
    status: { components: [report(BEFORE, 'Committed')], conditions: healthy('False') },
  },
  /** Behind, and its agent has not spoken for long. */
  lost: {
    spec: { components: [entry(BEFORE)] },
    status: { components: [report(BEFORE, 'Committed')], conditions: healthy('Unknown') },
  },
  /** Told to change; its agent says nothing of it. */
  silent: { status: { components: [] } },
} satisfies Record<string, MachineParts>;

export type FleetWord = keyof typeof WORDS;
export const FLEET_WORDS = Object.keys(WORDS) as readonly FleetWord[];

/** `m-1`, `m-2`, …, one for each word. */
export function fleet(words: string): readonly Machine[] {
  return words
    .split(/\s+/)
    .filter(Boolean)
    .map((word, index) => machine(`m-${index + 1}`, partsOf(word)));
}

function partsOf(word: string): MachineParts {
  if (!Object.hasOwn(WORDS, word)) throw new Error(`a fleet knows no ${word}: ${FLEET_WORDS.join(' ')}`);
  return WORDS[word as FleetWord];
}

function entry(version: ComponentVersion): Machine['spec']['components'][number] {
  return { ...version, state: 'Present', parameters: {} };
}

function report(
  version: ComponentVersion,
  state: NonNullable<MachineComponentReport['state']>,
  since = ago(AN_HOUR),
): MachineComponentReport {
  const { name, componentRef, digest } = version;
  return {
    name,
    desiredRef: componentRef,
    currentRef: componentRef,
    digest,
    state,
    running: state === 'Committed',
    since,
  };
}

function healthy(ready: Condition['status'] = 'True'): readonly Condition[] {
  const others = ['AgentReady', 'NodeReady', 'ComponentsReady', 'UpToDate'].map((type) =>
    condition(type, ready),
  );
  return [condition('Ready', ready), ...others];
}

/** The same name has the same UID, in every run. */
function uidOf(name: string): string {
  const hex = createHash('sha256').update(name).digest('hex');
  return [
    hex.slice(0, 8),
    hex.slice(8, 12),
    `4${hex.slice(13, 16)}`,
    `8${hex.slice(17, 20)}`,
    hex.slice(20, 32),
  ].join('-');
}
