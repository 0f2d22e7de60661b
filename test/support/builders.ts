/**
 * Objects for tests: valid by default; a test overrides the fields that it is about. A fleet is written as words,
 * one for each machine: `fleet('done moving behind')`. If a test needs more than five lines of setup, add a word here.
 */
import { createHash } from 'node:crypto';
import type { Condition, Machine, MachineComponentReport } from '../../src/api/generated/types.ts';
import type { KubeObject, Metadata } from '../../src/kube/objects/object.ts';
import { NOW } from './virtual-clock.ts';

export { NOW } from './virtual-clock.ts';

/** The version that a fleet is updated to, and the one before. */
export const DESIRED = component('kubelet', '1.34.2');
export const PREVIOUS = component('kubelet', '1.34.1');

export interface ComponentVersion {
  readonly name: string;
  readonly componentRef: string;
  readonly digest: string;
}

export function component(name: string, version: string): ComponentVersion {
  const digest = createHash('sha256').update(`${name}-${version}`).digest('hex');
  return { name, componentRef: `${name}-${version}`, digest: `sha256:${digest}` };
}

/** The time this many seconds before NOW. */
export function ago(seconds: number): string {
  return new Date(NOW.getTime() - seconds * 1000).toISOString().replace('.000Z', 'Z');
}

/** Simulators make millions of conditions. */
const AN_HOUR_AGO = ago(3600);
const TEN_SECONDS_AGO = ago(10);

export function condition(
  type: string,
  status: Condition['status'],
  fields: Partial<Condition> = {},
): Condition {
  const usual = {
    reason: status === 'True' ? 'Healthy' : 'NotReady',
    message: '',
    lastTransitionTime: AN_HOUR_AGO,
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

/** A Node as a kubelet reports it. */
export function node(
  name: string,
  ready: Condition['status'] = 'True',
  metadata: Partial<Metadata> = {},
): KubeObject {
  const heartbeat = { lastHeartbeatTime: TEN_SECONDS_AGO };
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

/** Ready, and running the desired version. */
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
      components: [entry(DESIRED)],
      agentEpoch: 0,
      deletion: { drain: 'Respect', drainTimeoutSeconds: 1800, timeoutSeconds: 7200, cleanup: 'Restore' },
      ...spec,
    },
    status: {
      observedGeneration: 1,
      conditions: healthy(),
      components: [report(DESIRED, 'Committed')],
      ...status,
    },
  };
}

/** The words of a fleet and their meaning. */
const WORDS = {
  /** Has run the desired version for long enough. */
  done: {},
  /** Has run the desired version for one second. */
  fresh: { status: { components: [report(DESIRED, 'Committed', ago(1))] } },
  /** Was assigned the desired version and activates it. */
  moving: { status: { components: [report(DESIRED, 'Activating')] } },
  failed: { status: { components: [report(DESIRED, 'Failed')] } },
  /** Not assigned the desired version yet. */
  behind: {
    spec: { components: [entry(PREVIOUS)] },
    status: { components: [report(PREVIOUS, 'Committed')] },
  },
  /** Behind, and not Ready. */
  sick: {
    spec: { components: [entry(PREVIOUS)] },
    status: { components: [report(PREVIOUS, 'Committed')], conditions: healthy('False') },
  },
  /** Behind, and its agent has not reported for long. */
  unreachable: {
    spec: { components: [entry(PREVIOUS)] },
    status: { components: [report(PREVIOUS, 'Committed')], conditions: healthy('Unknown') },
  },
  /** Was assigned the desired version, which its agent does not report. */
  silent: { status: { components: [] } },
} satisfies Record<string, MachineParts>;

export type FleetWord = keyof typeof WORDS;
export const FLEET_WORDS = Object.keys(WORDS) as readonly FleetWord[];

/** Machines `m-1`, `m-2`, …, one for each word. */
export function fleet(words: string): readonly Machine[] {
  return words
    .split(/\s+/)
    .filter(Boolean)
    .map((word, index) => machine(`m-${index + 1}`, partsOf(word)));
}

function partsOf(word: string): MachineParts {
  if (!Object.hasOwn(WORDS, word)) {
    throw new Error(`unknown fleet word ${word}: use ${FLEET_WORDS.join(' ')}`);
  }
  return WORDS[word as FleetWord];
}

function entry(version: ComponentVersion): Machine['spec']['components'][number] {
  return { ...version, state: 'Present', parameters: {} };
}

function report(
  version: ComponentVersion,
  state: NonNullable<MachineComponentReport['state']>,
  since = AN_HOUR_AGO,
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
