/**
 * Observes what policies name of other tools and of Pods: one watch for each namespace of Leases and for each label of Pods, while a policy
 * names it. What could not be read is unobserved, and only policies that name it deny because of it.
 */
import type { DefenderPolicy } from '../../../api/generated/types.ts';
import type { Reflector } from '../../../kube/cache/reflector.ts';
import type { Store } from '../../../kube/cache/store.ts';
import type { KubeObject } from '../../../kube/objects/object.ts';
import type { Labels } from '../../../kube/objects/selector.ts';
import type { Clock } from '../../../os/clock.ts';
import { nodesOf, runningPodOn } from '../observed-views.ts';
import { isHeldLease, leaseNameFor, namespaceOfLease, nodeOfLease } from './lease-names.ts';
import { type NamedSigns, namedSigns, type SignSelection, selectionKey } from './named-signs.ts';

export interface NodeSigns {
  /** Names of the held Leases of the node. */
  readonly leases: readonly string[];
  /** Names of running Pods by the label that policies name. */
  readonly pods: Labels;
  /** Names of Leases and labels of Pods, as policies name them, that are not observed now. */
  readonly unobserved: readonly string[];
}

export interface PolicySigns {
  of(node: string): NodeSigns;
  /** Resolves when all that policies name was listed, which may never be. Rejects when the signal is aborted first. */
  listed(signal: AbortSignal): Promise<void>;
  close(): void;
}

export interface SignView {
  readonly store: Store;
  readonly reflector: Pick<Reflector, 'run' | 'freshness' | 'synced'>;
}

export interface PolicySignsOptions {
  readonly policies: Pick<Store<DefenderPolicy>, 'list' | 'subscribe'>;
  /** Creates the view of a selection. Pods have POD_INDEXERS. */
  readonly open: (selection: SignSelection) => SignView;
  readonly clock: Pick<Clock, 'now'>;
  /** The signs of this node changed; undefined: those of any node. */
  readonly changed: (node: string | undefined) => void;
}

/** As old as the views of the fleet may be, by default. */
export const MAX_AGE_MS = 150_000;

interface OpenView {
  readonly view: SignView;
  close(): void;
}

export function createPolicySigns(options: PolicySignsOptions): PolicySigns {
  const { policies, clock, changed } = options;
  const views = new Map<string, OpenView>();
  let named: NamedSigns = namedSigns([]);
  const leave = policies.subscribe({ added: refresh, updated: refresh, removed: refresh });
  return {
    of,
    async listed(signal) {
      await Promise.all([...views.values()].map(({ view }) => view.reflector.synced(signal)));
    },
    close() {
      leave();
      for (const opened of views.values()) opened.close();
    },
  };

  function refresh(): void {
    const next = namedSigns(policies.list());
    if (JSON.stringify(next) === JSON.stringify(named)) return;
    named = next;
    const keys = new Set(next.selections.map(selectionKey));
    for (const [key, opened] of views) {
      if (keys.has(key)) continue;
      opened.close();
      views.delete(key);
    }
    for (const selection of next.selections) {
      const key = selectionKey(selection);
      if (views.has(key)) continue;
      views.set(
        key,
        openView(options, selection, (object) => report(selection, object)),
      );
    }
    changed(undefined);
  }

  function report({ kind }: SignSelection, object: KubeObject): void {
    const nodes = kind === 'Pod' ? nodesOf(object) : nodesOfLease(named.leases, object);
    for (const node of new Set(nodes)) changed(node);
  }

  function of(node: string): NodeSigns {
    if (named.leases.length + named.podLabels.length === 0) return NONE;
    const now = clock.now();
    const leases = named.leases.map((pattern) => leaseOn(node, pattern, now));
    const pods = named.podLabels.map((label) => podOn(node, label));
    return {
      leases: leases.flatMap(({ shown }) => shown ?? []),
      pods: Object.fromEntries(
        pods.flatMap(({ sign, shown }) => (shown === undefined ? [] : [[sign, shown]])),
      ),
      unobserved: [...leases, ...pods].filter(({ isObserved }) => !isObserved).map(({ sign }) => sign),
    };
  }

  function leaseOn(node: string, pattern: string, now: Date): OneSign {
    const store = observed({ kind: 'Lease', of: namespaceOfLease(pattern) ?? '' });
    const name = leaseNameFor(pattern, node);
    const lease = store?.get(name);
    const isHeld = lease !== undefined && isHeldLease(lease, now);
    return { sign: pattern, isObserved: store !== undefined, shown: isHeld ? name : undefined };
  }

  function podOn(node: string, label: string): OneSign {
    const store = observed({ kind: 'Pod', of: label });
    return { sign: label, isObserved: store !== undefined, shown: store && runningPodOn(store, node) };
  }

  function observed(selection: SignSelection): Store | undefined {
    const view = views.get(selectionKey(selection))?.view;
    return view && view.reflector.freshness().ageMs <= MAX_AGE_MS ? view.store : undefined;
  }
}

/** A sign as policies name it, and what shows it. */
interface OneSign {
  readonly sign: string;
  readonly isObserved: boolean;
  readonly shown: string | undefined;
}

const NONE: NodeSigns = { leases: [], pods: {}, unobserved: [] };

function openView(
  { open, clock }: PolicySignsOptions,
  selection: SignSelection,
  report: (object: KubeObject) => void,
): OpenView {
  const view = open(selection);
  const closing = new AbortController();
  const leave = view.store.subscribe({
    added: report,
    updated: (after, before) => {
      const isRenewal =
        selection.kind === 'Lease' && isHeldLease(after, clock.now()) === isHeldLease(before, clock.now());
      if (isRenewal) return;
      report(after);
      report(before);
    },
    removed: report,
  });
  void view.reflector.run(closing.signal);
  return {
    view,
    close() {
      closing.abort();
      leave();
    },
  };
}

function nodesOfLease(
  patterns: readonly string[],
  { metadata }: KubeObject,
): readonly (string | undefined)[] {
  const name = `${metadata.namespace ?? ''}/${metadata.name}`;
  return patterns.map((pattern) => nodeOfLease(pattern, name)).filter((node) => node !== false);
}
