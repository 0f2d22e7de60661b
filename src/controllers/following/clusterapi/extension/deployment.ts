/** Decides how Cluster API carries a change of a MachineDeployment out: in place, by the same answer as the update extension, or by replacement. Pure. */
import { canonicalJson } from '../../../../kube/objects/digest.ts';
import { isRecord, textAt, valueAt } from '../../../../kube/objects/json.ts';
import type { KubeObject } from '../../../../kube/objects/object.ts';
import { planCover } from './cover.ts';
import type { UpdateFacts } from './machines.ts';
import { templateIn, withObjects } from './protocol.ts';

/** Whether an extension for updates in place is registered. Unknown: it was not read, for this reason. */
export type ExtensionState =
  | { readonly state: 'Registered' | 'Missing' }
  | { readonly state: 'Unknown'; readonly because: string };

/** InPlace: no machine is replaced. Wait: Cluster API asks again, and replaces nothing until then. */
export interface DeploymentDecision {
  readonly type: 'InPlace' | 'Replace' | 'Wait';
  readonly because: string;
}

/** A MachineDeployment before and after a commit. */
export interface DeploymentChange {
  readonly before: KubeObject;
  readonly after: KubeObject;
  /** The KubeadmConfigTemplates that each names, or why they are not known. Undefined: one names none. */
  readonly templates?: TemplateChange | { readonly unreadable: string } | undefined;
}

export interface TemplateChange {
  readonly before: KubeObject;
  readonly after: KubeObject;
}

/** A change of one of these fields of the template begins a rollout in Cluster API 1.14. Others reach the machines without one. */
const ROLLOUT_FIELDS = ['version', 'bootstrap', 'infrastructureRef', 'failureDomain'] as const;

type RolloutField = (typeof ROLLOUT_FIELDS)[number];

/** Undefined: no rollout begins. */
export function planDeployment(
  change: DeploymentChange,
  facts: UpdateFacts,
  extension: ExtensionState,
): DeploymentDecision | undefined {
  const { before, after } = change;
  const changed = ROLLOUT_FIELDS.filter((field) => rolloutText(before, field) !== rolloutText(after, field));
  if (changed.length === 0) return undefined;
  const because = replaceReason(change, changed, extension);
  if (because !== undefined) return { type: 'Replace', because };
  const templates = changed.includes('bootstrap') ? readTemplatesOf(change) : undefined;
  return withExtension(coverDecision({ before, after, templates }, facts), extension);
}

/** Returns why Cluster API replaces the machines, whatever components they have. */
function replaceReason(
  { after, templates }: DeploymentChange,
  changed: readonly RolloutField[],
  extension: ExtensionState,
): string | undefined {
  const covered: readonly RolloutField[] = templates ? ['version', 'bootstrap'] : ['version'];
  const others = changed.filter((field) => !covered.includes(field));
  if (others.length > 0) return `no component covers ${others.map((field) => `spec.${field}`).join(', ')}`;
  if (isOnDelete(after)) return 'its strategy is OnDelete: a machine is replaced when somebody deletes it';
  if (extension.state === 'Missing') return 'no ExtensionConfig for updates in place is registered';
  if (!changed.includes('bootstrap') || !templates || !('unreadable' in templates)) return undefined;
  return `no component is known to cover spec.bootstrap: ${templates.unreadable}`;
}

function readTemplatesOf({ templates }: DeploymentChange): TemplateChange | undefined {
  return templates && 'before' in templates ? templates : undefined;
}

/** The extension is asked about MachineSets, which have the selector and the template of their MachineDeployment. */
function coverDecision(
  change: TemplateChange & { readonly templates: TemplateChange | undefined },
  facts: UpdateFacts,
): DeploymentDecision {
  const [current, desired] = (['before', 'after'] as const).map((side) => {
    const asked = templateIn(change[side]);
    const config = change.templates?.[side];
    return asked && config ? withObjects(asked, { config }) : asked;
  });
  if (!current || !desired) return { type: 'Replace', because: 'it has no name and namespace' };
  const { type, because } = planCover({ current, desired }, facts);
  if (type === 'Covered') return { type: 'InPlace', because };
  return { type: type === 'Undecided' ? 'Wait' : 'Replace', because };
}

function withExtension(decision: DeploymentDecision, extension: ExtensionState): DeploymentDecision {
  if (extension.state !== 'Unknown' || decision.type !== 'InPlace') return decision;
  return {
    ...decision,
    because: `${decision.because}, if the extension is registered: ${extension.because}`,
  };
}

/** The version of a reference is left out, as Cluster API leaves it out. */
function rolloutText(object: KubeObject, field: RolloutField): string {
  return canonicalJson(withoutVersions(valueAt(object, 'spec', 'template', 'spec', field) ?? null));
}

function withoutVersions(value: unknown): unknown {
  if (!isRecord(value)) return value;
  const entries = Object.entries(value).filter(([name]) => name !== 'apiVersion');
  return Object.fromEntries(entries.map(([name, each]) => [name, withoutVersions(each)]));
}

function isOnDelete(object: KubeObject): boolean {
  const types = [
    textAt(object, 'spec', 'rollout', 'strategy', 'type'),
    // v1beta1
    textAt(object, 'spec', 'strategy', 'type'),
  ];
  return types.includes('OnDelete');
}
