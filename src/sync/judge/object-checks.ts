/**
 * What a render may not hold, whoever wrote it: fields that belong to the server or to our controllers, our own
 * marks, the same object twice, a rule that fails its own tests. Schema and rule tests are arguments.
 */
import {
  ANNOTATION_COMMIT,
  GROUP,
  LABEL_HUB,
  LABEL_UNIT,
  NAMESPACE,
  NAMESPACE_AGENTS,
} from '../../api/names.ts';
import { listAt, valueAt } from '../../kube/objects/json.ts';
import type { KubeObject } from '../../kube/objects/object.ts';
import { objectIdOf, objectKey } from '../../kube/objects/object-id.ts';
import { mergeProblems, type Problem } from '../../rules/problems.ts';
import { HUB_TARGET, type RenderedObject, type RenderedTarget, sourceText } from '../rendered.ts';
import { unsupported } from './unsupported.ts';

export interface Refusal {
  readonly target: string;
  readonly unit: string;
  /** `Namespace web`, as keyOf says it. */
  readonly object: string;
  /** File, line and construct path. */
  readonly source: string;
  readonly message: string;
}

export interface ObjectChecks {
  /** Schema of our own kinds; empty for all others. */
  readonly schema: (object: KubeObject) => readonly Problem[];
  /** Of a NodeRemedier: why it is no rule, or which of the tests inside it fail. Empty for all others. */
  readonly ruleTests: (object: KubeObject) => Promise<readonly Problem[]>;
}

/** All objections to all objects at once; none means that the target may be applied. */
export async function refusals(target: RenderedTarget, checks: ObjectChecks): Promise<Refusal[]> {
  return [...unitNames(target), ...(await objectRefusals(target, checks))];
}

/** The name of a unit becomes a label and part of a name. A dot is kept for scopes of inventories. */
const UNIT = /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/;

function unitNames({ target, units }: RenderedTarget): Refusal[] {
  const message = 'the name of a unit (chart) is at most 63 lower-case letters, digits and dashes';
  return units
    .filter(({ unit }) => !UNIT.test(unit))
    .map(({ unit, objects }) => ({
      target,
      unit,
      object: `unit ${unit}`,
      source: sourceText(objects[0]?.source ?? {}),
      message,
    }));
}

async function objectRefusals(target: RenderedTarget, checks: ObjectChecks): Promise<Refusal[]> {
  const seen = new Map<string, { unit: string; source: string }>();
  const found: Refusal[] = [];
  for (const { unit, rendered } of objectsOf(target)) {
    const object = objectKey(objectIdOf(rendered.object));
    const source = sourceText(rendered.source);
    const first = seen.get(object);
    seen.set(object, first ?? { unit, source });
    const twice = first ? [`it is declared twice: also in unit ${first.unit}, ${first.source}`] : [];
    const messages = [...twice, ...(await objections(target.target, rendered, checks))];
    found.push(...messages.map((message) => ({ target: target.target, unit, object, source, message })));
  }
  return found;
}

function objectsOf({ units }: RenderedTarget): readonly { unit: string; rendered: RenderedObject }[] {
  return units.flatMap(({ unit, objects }) => objects.map((rendered) => ({ unit, rendered })));
}

async function objections(
  target: string,
  { object }: RenderedObject,
  checks: ObjectChecks,
): Promise<string[]> {
  const own = object.apiVersion.startsWith(`${GROUP}/`);
  const written = mergeProblems(await checks.ruleTests(object), checks.schema(object));
  return [
    ...serverFields(object),
    ...marks(object),
    ...reserved(object),
    ...(own ? [...misplaced(target, object), ...controllerFields(object), ...unsupported(object)] : []),
    ...written.map(({ path, message }) => `${path}: ${message}`),
  ];
}

const SERVER_METADATA = [
  'uid',
  'resourceVersion',
  'generation',
  'creationTimestamp',
  'deletionTimestamp',
  'managedFields',
  'selfLink',
];

function serverFields(object: KubeObject): string[] {
  const found = SERVER_METADATA.filter((field) => valueAt(object, 'metadata', field) !== undefined);
  const status = valueAt(object, 'status') === undefined ? [] : ['status'];
  const fields = [...found.map((field) => `metadata.${field}`), ...status];
  const named =
    valueAt(object, 'metadata', 'generateName') === undefined
      ? []
      : ['metadata.generateName: an object from git needs a name of its own'];
  return [...fields.map((field) => `${field}: the server sets it, so git cannot: leave it out`), ...named];
}

function marks({ metadata }: KubeObject): string[] {
  const labels = [LABEL_HUB, LABEL_UNIT].filter((key) => metadata.labels?.[key] !== undefined);
  const annotations = [ANNOTATION_COMMIT].filter((key) => metadata.annotations?.[key] !== undefined);
  return [...labels, ...annotations].map((key) => `${key}: sync puts this mark on itself: leave it out`);
}

/** What sync and the controllers keep for themselves. */
function reserved(object: KubeObject): string[] {
  const { kind, metadata } = object;
  if (metadata.namespace === NAMESPACE_AGENTS) {
    return [`namespace ${NAMESPACE_AGENTS} holds the Leases of agents and nothing else`];
  }
  if (metadata.namespace !== NAMESPACE) return [];
  const ours = kind === 'Lease' || (kind === 'ConfigMap' && metadata.name.startsWith('inventory-'));
  return ours
    ? [`${kind} ${metadata.name} in ${NAMESPACE} is kept by kubenode itself: choose another name`]
    : [];
}

const HUB_KINDS = ['Cluster', 'Pipeline'];
/** Written by controllers: from git they would be a second writer. */
const CONTROLLER_KINDS = ['Release', 'RemedyOperationJob', 'MaintenanceEvent', 'DefenderLedger'];

function misplaced(target: string, { kind, metadata }: KubeObject): string[] {
  if (CONTROLLER_KINDS.includes(kind)) return [`a ${kind} is written by its controller, never by git`];
  if (HUB_KINDS.includes(kind) && target !== HUB_TARGET) {
    return [`a ${kind} lives in the hub: declare it there, not for cluster ${target}`];
  }
  if (kind === 'DefenderPolicy' && metadata.name === 'kill-switch') {
    return ['the name kill-switch is reserved for `kubenode defender stop`: choose another name'];
  }
  return [];
}

function controllerFields(object: KubeObject): string[] {
  if (object.kind !== 'Machine') return [];
  if (
    valueAt(object, 'spec', 'components') === undefined &&
    listAt(object, 'spec', 'components').length === 0
  ) {
    return [];
  }
  return ['spec.components: the component set controller writes it: use a MachineComponentSet'];
}
