/** Turns what views observe into lines of a recording. Lines have the monotonic time since the start, so they never go back. */
import { staleReason } from '../../kube/cache/freshness.ts';
import { storeKey } from '../../kube/cache/store.ts';
import { textAt } from '../../kube/objects/json.ts';
import type { KubeObject } from '../../kube/objects/object.ts';
import { optional } from '../../kube/objects/optional.ts';
import type { Clock } from '../../os/clock.ts';
import {
  FACT_VIEW_NAMES,
  FACT_VIEWS,
  type FactView,
  type FactViewName,
  type FactViews,
  LEASE_VIEWS,
  type LeaseView,
  OBJECT_VIEWS,
  type ObjectView,
} from '../views.ts';
import {
  LEASE_SILENT_MS,
  RECORDING_FORMAT,
  RECORDING_VERSION,
  type RecordedCluster,
  type RecordedLine,
  TICK_MS,
} from './format.ts';
import { splitHeartbeats, trimRecorded } from './trim.ts';

export interface FactRecorderOptions {
  readonly views: FactViews;
  readonly clock: Pick<Clock, 'now' | 'monotonicMs'>;
  readonly cluster: RecordedCluster;
  readonly kubenode: string;
  readonly write: (line: RecordedLine) => void;
}

export interface FactRecorder {
  /** Records that every initial list is complete. */
  synced(): void;
  /**
   * Records what only time shows: agents and kubelets that are silent, views without contact, and that this recorder runs. The
   * caller calls it every second.
   */
  sweep(): void;
  close(): void;
}

interface LeaseSign {
  readonly renewTime: string;
  readonly heardMs: number;
  readonly isSilent: boolean;
}

interface Recording extends FactRecorderOptions {
  readonly emit: (line: LineContent) => void;
  /** Holds each object as it was written last, by view and key. */
  readonly written: ReadonlyMap<ObjectView, Map<string, Written>>;
  readonly signs: Readonly<Record<LeaseView, Map<string, LeaseSign>>>;
  readonly lost: Set<FactViewName>;
  readonly timeOf: (monotonicMs: number) => string;
}

interface Written {
  readonly rest: string;
  readonly times: ReadonlyMap<string, string>;
}

type WithoutTime<T> = T extends unknown ? Omit<T, 'at'> : never;
type LineContent = WithoutTime<RecordedLine>;

export function createFactRecorder(options: FactRecorderOptions): FactRecorder {
  const { clock, cluster, kubenode, views } = options;
  const start = { ms: clock.monotonicMs(), at: clock.now().getTime() };
  const timeOf = (ms: number): string => new Date(start.at + ms - start.ms).toISOString();
  let lastMs = start.ms;
  const recording: Recording = {
    ...options,
    written: new Map(OBJECT_VIEWS.map((view) => [view, new Map<string, Written>()])),
    signs: { agentLeases: new Map(), nodeLeases: new Map() },
    lost: new Set(),
    timeOf,
    emit: (content) => {
      lastMs = clock.monotonicMs();
      options.write({ ...content, at: timeOf(lastMs) });
    },
  };
  const identity = { format: RECORDING_FORMAT, version: RECORDING_VERSION, kubenode, cluster } as const;
  recording.emit({ type: 'Started', ...identity });
  const closes = [
    ...OBJECT_VIEWS.map((view) => followView(recording, view, views[view])),
    ...LEASE_VIEWS.map((view) => followLeases(recording, view)),
  ];
  return {
    synced: () => recording.emit({ type: 'Synced' }),
    sweep: () => {
      sweepLeases(recording);
      sweepContact(recording);
      if (clock.monotonicMs() - lastMs >= TICK_MS) recording.emit({ type: 'Tick' });
    },
    close: () => {
      for (const close of closes) close();
    },
  };
}

function followView(recording: Recording, view: ObjectView, { store }: Pick<FactView, 'store'>): () => void {
  const { written, signs, emit } = recording;
  const put = (object: KubeObject): void => putObject(recording, view, object);
  return store.subscribe({
    added: put,
    updated: put,
    removed: ({ metadata }: KubeObject) => {
      const key = storeKey(metadata);
      written.get(view)?.delete(key);
      // As the facts do: what is heard of a Node that is created again is heard for the first time.
      if (view === 'nodes') signs.nodeLeases.delete(key);
      emit({ type: 'Delete', view, name: key });
    },
  });
}

/** Writes a line for an object only if something changed in the part of it that is recorded. */
function putObject({ written, emit }: Recording, view: ObjectView, object: KubeObject): void {
  const trimmed = trimRecorded(view, object);
  const { rest, times } = view === 'nodes' ? splitHeartbeats(trimmed) : { rest: trimmed, times: NO_TIMES };
  const all = written.get(view);
  const key = storeKey(object.metadata);
  const before = all?.get(key);
  const text = JSON.stringify(rest);
  all?.set(key, { rest: text, times });
  if (before?.rest !== text || times.size !== before.times.size) {
    emit({ type: 'Put', view, object: trimmed });
    return;
  }
  const renewed = [...times].filter(([type, time]) => before.times.get(type) !== time);
  if (renewed.length > 0) emit({ type: 'Heartbeat', node: key, times: Object.fromEntries(renewed) });
}

const NO_TIMES: ReadonlyMap<string, string> = new Map();

function followLeases(recording: Recording, view: LeaseView): () => void {
  const { selection } = FACT_VIEWS[view];
  const observe = ({ metadata: { name, namespace }, ...lease }: KubeObject): void => {
    const renewTime = textAt(lease, 'spec', 'renewTime');
    if (namespace === selection?.namespace && renewTime !== undefined) {
      observeLease(recording, view, { name, renewTime });
    }
  };
  return recording.views[view].store.subscribe({
    added: observe,
    updated: observe,
    // Whose Lease was deleted is not heard of any more.
    removed: ({ metadata: { name, namespace } }) => {
      if (namespace !== selection?.namespace) return;
      becomeSilent(recording, view, name);
      recording.signs[view].delete(name);
    },
  });
}

interface RenewedLease {
  readonly name: string;
  readonly renewTime: string;
}

function observeLease(
  { signs, clock, emit, timeOf }: Recording,
  view: LeaseView,
  { name, renewTime }: RenewedLease,
): void {
  const before = signs[view].get(name);
  if (before?.renewTime === renewTime) return;
  const now = clock.monotonicMs();
  // The first one may be old: only its own timestamp tells.
  const ageMs = before ? 0 : Math.max(0, clock.now().getTime() - Date.parse(renewTime)) || 0;
  const isSilent = ageMs > LEASE_SILENT_MS;
  signs[view].set(name, { renewTime, heardMs: now - ageMs, isSilent });
  if (before && !before.isSilent) return;
  emit({ type: 'Lease', view, name, ...optional('silentSince', isSilent ? timeOf(now - ageMs) : undefined) });
}

function sweepLeases(recording: Recording): void {
  const now = recording.clock.monotonicMs();
  for (const view of LEASE_VIEWS) {
    for (const [name, { heardMs }] of recording.signs[view]) {
      if (now - heardMs > LEASE_SILENT_MS) becomeSilent(recording, view, name);
    }
  }
}

function becomeSilent({ signs, emit, timeOf }: Recording, view: LeaseView, name: string): void {
  const sign = signs[view].get(name);
  if (!sign || sign.isSilent) return;
  signs[view].set(name, { ...sign, isSilent: true });
  emit({ type: 'Lease', view, name, silentSince: timeOf(sign.heardMs) });
}

function sweepContact({ views, clock, lost, emit, timeOf }: Recording): void {
  for (const view of FACT_VIEW_NAMES) {
    const freshness = views[view].reflector.freshness();
    const isLost = freshness.synced && staleReason(freshness, view) !== undefined;
    if (isLost === lost.has(view)) continue;
    if (isLost) lost.add(view);
    else lost.delete(view);
    const since = isLost ? timeOf(clock.monotonicMs() - freshness.ageMs) : undefined;
    emit({ type: 'Contact', view, ...optional('lostSince', since) });
  }
}
