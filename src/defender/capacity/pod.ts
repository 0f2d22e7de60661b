/** Reads from a Pod where it can run. Pure. */
import { podName, skipReason } from '../../kube/drain/pods.ts';
import { listAt, textAt, valueAt } from '../../kube/objects/json.ts';
import type { KubeObject } from '../../kube/objects/object.ts';
import type { LabelSelector, Labels } from '../../kube/objects/selector.ts';
import { type Amounts, requestedAmounts } from './requests.ts';
import { expressionOf, labelsAt, type NodeExpression, selectorAt, textsAt } from './selectors.ts';

export interface CapacityPod {
  /** As `namespace/name`. */
  readonly name: string;
  readonly namespace: string;
  readonly labels: Labels;
  readonly node: string | undefined;
  /** Whether a drain evicts it. */
  readonly isEvicted: boolean;
  /** It waits for a node, and kube-scheduler found none for it. */
  readonly isUnschedulable: boolean;
  /** Undefined: a part of the Pod cannot be read. */
  readonly needs: PodNeeds | undefined;
}

export interface PodNeeds {
  readonly requests: Amounts;
  readonly nodeSelector: Labels;
  /** One of them must match; absent: any node. */
  readonly nodeTerms?: readonly NodeTerm[];
  readonly tolerations: readonly Toleration[];
  readonly hostPorts: readonly string[];
  readonly near: readonly PodTerm[];
  readonly apart: readonly PodTerm[];
  readonly spread: readonly Spread[];
  /** A claim may be bound to a volume of the zone where the Pod runs. */
  readonly hasClaim: boolean;
}

export interface NodeTerm {
  readonly labels: readonly NodeExpression[];
  readonly names: readonly NodeExpression[];
}

export interface Toleration {
  readonly key: string | undefined;
  readonly operator: string;
  readonly value: string;
  readonly effect: string | undefined;
}

export interface PodTerm {
  /** Equal terms have equal keys. */
  readonly key: string;
  readonly topologyKey: string;
  readonly selector: LabelSelector;
  /** Undefined: all namespaces. */
  readonly namespaces: readonly string[] | undefined;
}

export interface Spread {
  readonly topologyKey: string;
  readonly selector: LabelSelector;
  readonly maxSkew: number;
  readonly minDomains: number;
  readonly honorsTaints: boolean;
  readonly honorsAffinity: boolean;
}

const REQUIRED = 'requiredDuringSchedulingIgnoredDuringExecution';

export function capacityPod(pod: KubeObject): CapacityPod {
  return {
    name: podName(pod),
    namespace: pod.metadata.namespace ?? '',
    labels: pod.metadata.labels ?? {},
    node: textAt(pod, 'spec', 'nodeName'),
    isEvicted: skipReason(pod, { deadNode: 'Wait' }, true) === undefined,
    isUnschedulable: listAt(pod, 'status', 'conditions').some(isUnscheduled),
    needs: needsOf(pod),
  };
}

/** A Pod with scheduling gates gets no node while it has any. */
export function isGated(pod: KubeObject): boolean {
  return listAt(pod, 'spec', 'schedulingGates').length > 0;
}

function isUnscheduled(condition: unknown): boolean {
  return textAt(condition, 'type') === 'PodScheduled' && textAt(condition, 'status') === 'False';
}

/** One part that cannot be read makes all unknown. */
function needsOf(pod: KubeObject): PodNeeds | undefined {
  const requests = requestedAmounts(pod);
  if (!requests) return undefined;
  try {
    return { requests, ...placesOf(pod) };
  } catch {
    return undefined;
  }
}

function placesOf(pod: KubeObject): Omit<PodNeeds, 'requests'> {
  const affinity = valueAt(pod, 'spec', 'affinity');
  const terms = valueAt(affinity, 'nodeAffinity', REQUIRED);
  const namespace = pod.metadata.namespace ?? '';
  const podTerms = (kind: string): readonly PodTerm[] =>
    listAt(affinity, kind, REQUIRED).map((term) => podTerm(term, namespace));
  return {
    nodeSelector: labelsAt(pod, 'spec', 'nodeSelector'),
    ...(terms === undefined ? {} : { nodeTerms: listAt(terms, 'nodeSelectorTerms').map(nodeTerm) }),
    tolerations: listAt(pod, 'spec', 'tolerations').map(toleration),
    hostPorts: hostPorts(pod),
    near: podTerms('podAffinity'),
    apart: podTerms('podAntiAffinity'),
    spread: listAt(pod, 'spec', 'topologySpreadConstraints')
      .filter((each) => textAt(each, 'whenUnsatisfiable') === 'DoNotSchedule')
      .map((each) => spread(each, pod.metadata.labels ?? {})),
    hasClaim: listAt(pod, 'spec', 'volumes').some(isClaim),
  };
}

function isClaim(volume: unknown): boolean {
  return ['persistentVolumeClaim', 'ephemeral'].some((kind) => valueAt(volume, kind) !== undefined);
}

function nodeTerm(term: unknown): NodeTerm {
  return {
    labels: listAt(term, 'matchExpressions').map(expressionOf),
    names: listAt(term, 'matchFields').map(expressionOf),
  };
}

function toleration(value: unknown): Toleration {
  return {
    key: textAt(value, 'key'),
    operator: textAt(value, 'operator') ?? 'Equal',
    value: textAt(value, 'value') ?? '',
    effect: textAt(value, 'effect'),
  };
}

function hostPorts(pod: KubeObject): readonly string[] {
  const containers = ['containers', 'initContainers'].flatMap((field) => listAt(pod, 'spec', field));
  return containers
    .flatMap((container) => listAt(container, 'ports'))
    .filter((port) => Number(valueAt(port, 'hostPort') ?? 0) > 0)
    .map((port) => `${String(valueAt(port, 'hostPort'))}/${textAt(port, 'protocol') ?? 'TCP'}`);
}

/** Labels of namespaces are not read: a selector of namespaces that is not empty is unknown. */
function podTerm(term: unknown, own: string): PodTerm {
  const topologyKey = keyOf(term);
  const named = textsAt(term, 'namespaces');
  const byLabels = valueAt(term, 'namespaceSelector');
  if (byLabels !== undefined && JSON.stringify(byLabels) !== '{}') throw new Error('namespaceSelector');
  const namespaces = named.length === 0 ? [own] : named;
  const meant = {
    topologyKey,
    selector: selectorAt(term, 'labelSelector'),
    namespaces: byLabels === undefined ? namespaces : undefined,
  };
  return { key: JSON.stringify(meant), ...meant };
}

function spread(constraint: unknown, own: Labels): Spread {
  const maxSkew = valueAt(constraint, 'maxSkew');
  if (typeof maxSkew !== 'number') throw new Error('maxSkew');
  const minDomains = valueAt(constraint, 'minDomains');
  const selector = selectorAt(constraint, 'labelSelector');
  const keys = textsAt(constraint, 'matchLabelKeys').filter((key) => own[key] !== undefined);
  const matchLabels = {
    ...selector.matchLabels,
    ...Object.fromEntries(keys.map((key) => [key, own[key] ?? ''])),
  };
  return {
    topologyKey: keyOf(constraint),
    selector: { ...selector, matchLabels },
    maxSkew,
    minDomains: typeof minDomains === 'number' ? minDomains : 1,
    honorsTaints: textAt(constraint, 'nodeTaintsPolicy') === 'Honor',
    honorsAffinity: textAt(constraint, 'nodeAffinityPolicy') !== 'Ignore',
  };
}

function keyOf(term: unknown): string {
  const key = textAt(term, 'topologyKey');
  if (key === undefined) throw new Error('topologyKey');
  return key;
}
