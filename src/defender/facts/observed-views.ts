/** The views that the Defender reads, whether they are complete, and how old the oldest of them is. */
import type {
  Cluster,
  DefenderLedger,
  DefenderPolicy,
  FleetAllowance,
  Machine,
  MachineSet,
  NodeRemedier,
  RemedyOperationJob,
} from '../../api/generated/types.ts';
import { LABEL_BLOCK } from '../../api/names.ts';
import type { Store } from '../../kube/cache/store.ts';
import type { View } from '../../kube/cache/view.ts';
import { textAt } from '../../kube/objects/json.ts';
import type { KubeObject } from '../../kube/objects/object.ts';
import { optional } from '../../kube/objects/optional.ts';
import type { Labels } from '../../kube/objects/selector.ts';
import type { CallWindow } from './call-window.ts';
import type { ViewFacts } from './facts.ts';

export type ObservedView<T extends KubeObject = KubeObject> = Pick<View<T>, 'store'> & {
  readonly reflector: Pick<View<T>['reflector'], 'freshness'>;
};

interface AnyView {
  readonly store: Pick<ObservedView['store'], 'hasSynced'>;
  readonly reflector: ObservedView['reflector'];
}

export interface ObservedViews {
  readonly machines: ObservedView<Machine>;
  readonly nodes: ObservedView;
  /** Pods with the label `kubenode.dev/block: "true"`, with POD_INDEXERS. */
  readonly pods: ObservedView;
  readonly machineSets: ObservedView<MachineSet>;
  readonly policies: ObservedView<DefenderPolicy>;
  readonly jobs: ObservedView<RemedyOperationJob>;
  readonly ledgers: ObservedView<DefenderLedger>;
  /** The allowance of the hub. Absent in a simulation without a hub. */
  readonly allowances?: ObservedView<FleetAllowance>;
  /** The rules, in a process that reviews breakers. */
  readonly rules?: ObservedView<NodeRemedier>;
  /** The Clusters of a hub, in a process that hosts control planes. */
  readonly clusters?: ObservedView<Cluster>;
}

/** The label of blocking Pods that is always observed, as policies name it. Others are observed while a policy names them. */
export const BLOCKING_PODS = `${LABEL_BLOCK}=true`;
const NODE = 'node';
export const POD_INDEXERS = { [NODE]: nodesOf };

export function isComplete(views: ObservedViews): boolean {
  return allOf(views).every(({ store }) => store.hasSynced());
}

function allOf(views: ObservedViews): readonly AnyView[] {
  const { machines, nodes, pods, machineSets, policies, jobs, ledgers, ...others } = views;
  const { allowances, rules, clusters } = others;
  const more = [allowances, rules, clusters].filter((view) => view !== undefined);
  return [machines, nodes, pods, machineSets, policies, jobs, ledgers, ...more];
}

export function viewFacts(views: ObservedViews, calls: CallWindow): ViewFacts {
  const ages = allOf(views).map(({ reflector }) => reflector.freshness().ageMs);
  return {
    ageSeconds: isComplete(views) ? Math.max(...ages) / 1000 : undefined,
    apiErrorPercent: calls.errorPercent(),
    clockSkewSeconds: calls.skewSeconds(),
    ...optional('worstClockSkewSeconds', calls.worstSkewSeconds()),
  };
}

export function nodesOf(pod: KubeObject): readonly string[] {
  const node = textAt(pod, 'spec', 'nodeName');
  return node === undefined ? [] : [node];
}

/** Undefined: Pods were not observed. */
export function blockingPodsOn({ pods }: ObservedViews, node: string): Labels | undefined {
  if (!pods.store.hasSynced()) return undefined;
  const running = runningPodOn(pods.store, node);
  return running === undefined ? {} : { [BLOCKING_PODS]: running };
}

/** Returns `namespace/name` of a Pod of the store that runs on the node. */
export function runningPodOn(pods: Pick<Store, 'byIndex'>, node: string): string | undefined {
  const running = pods.byIndex(NODE, node).find((pod) => !isFinished(pod));
  return running && `${running.metadata.namespace ?? ''}/${running.metadata.name}`;
}

function isFinished(pod: KubeObject): boolean {
  return ['Succeeded', 'Failed'].includes(textAt(pod, 'status', 'phase') ?? '');
}
