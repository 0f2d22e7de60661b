/**
 * Finds fields of our kinds that sync does not implement yet. A limit that is not enforced must not look as if it were: a
 * commit that sets one is refused, and a Pipeline that has one promotes nothing. Pure.
 */
import { GROUP } from '../../api/names.ts';
import { listAt, textAt, valueAt } from '../../kube/objects/json.ts';
import type { KubeObject } from '../../kube/objects/object.ts';

export function unsupportedFields(object: KubeObject): string[] {
  if (!object.apiVersion.startsWith(`${GROUP}/`)) return [];
  if (object.kind === 'Pipeline') return pipelineFields(object).map(notImplemented);
  if (object.kind === 'Cluster') return clusterFields(object).map(notImplemented);
  return [];
}

function notImplemented(path: string): string {
  return `${path}: not implemented in this version of kubenode: remove it`;
}

const LISTS = ['freezes', 'forceManagers', 'fieldPolicies', 'identities'];
const SECRETS = ['webhookSecretRef', 'statusCredentialsRef', 'writeCredentialsRef', 'sopsKeysRef'];

function pipelineFields(pipeline: KubeObject): string[] {
  const lists = LISTS.filter((field) => listAt(pipeline, 'spec', field).length > 0).map(
    (field) => `spec.${field}`,
  );
  const secrets = SECRETS.filter((field) => valueAt(pipeline, 'spec', 'source', field) !== undefined);
  const signed = (textAt(pipeline, 'spec', 'source', 'signatures') ?? 'None') !== 'None';
  const reverts = (textAt(pipeline, 'spec', 'onFailure') ?? 'Stop') !== 'Stop';
  return [
    ...lists,
    ...secrets.map((field) => `spec.source.${field}`),
    ...(signed ? ['spec.source.signatures'] : []),
    ...(reverts ? ['spec.onFailure'] : []),
    ...listAt(pipeline, 'spec', 'stages').flatMap((stage, index) =>
      stageFields(stage, `spec.stages[${index}]`),
    ),
  ];
}

function stageFields(stage: unknown, path: string): string[] {
  return [
    ...(listAt(stage, 'windows').length > 0 ? [`${path}.windows`] : []),
    ...(valueAt(stage, 'approvalByOther') === true ? [`${path}.approvalByOther`] : []),
    ...listAt(stage, 'checks').flatMap((check, index) =>
      valueAt(check, 'cel') === undefined ? [] : [`${path}.checks[${index}].cel`],
    ),
  ];
}

function clusterFields(cluster: KubeObject): string[] {
  const pauses = listAt(cluster, 'spec', 'pauses').length > 0 ? ['spec.pauses'] : [];
  return valueAt(cluster, 'spec', 'hosted') === undefined ? pauses : [...pauses, 'spec.hosted'];
}
