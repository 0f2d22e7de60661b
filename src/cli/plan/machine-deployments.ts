/** Reads how Cluster API would carry a commit out on the machines of its MachineDeployments. Reads, and writes nothing. */

import { createEntryRules } from '../../controllers/clusterapi-extension.ts';
import {
  BOOTSTRAP_PROVIDER_GROUP,
  CLUSTER_API_GROUP,
  CLUSTER_API_VERSIONS,
  configRefName,
  KUBEADM_CONFIG_TEMPLATE,
} from '../../controllers/following/clusterapi/contract.ts';
import {
  type DeploymentChange,
  type ExtensionState,
  planDeployment,
  type TemplateChange,
} from '../../controllers/following/clusterapi/extension/deployment.ts';
import type { UpdateFacts } from '../../controllers/following/clusterapi/extension/machines.ts';
import { EXTENSION_CONFIGS } from '../../deploy/update-extension.ts';
import type { Client } from '../../kube/client/client.ts';
import { isKubeError, unlessMissing } from '../../kube/client/errors.ts';
import { nameOf } from '../../kube/client/paths.ts';
import { listAt, textAt, valueAt } from '../../kube/objects/json.ts';
import type { KubeObject, Resource } from '../../kube/objects/object.ts';
import { objectIdOf } from '../../kube/objects/object-id.ts';
import type { PlannedDeployment, TargetDeployments } from '../../sync/preview/machine-deployments.ts';
import { collect } from '../fleet/read.ts';
import type { PlanPorts } from './ports.ts';
import { type RolloutFleet, withChange } from './rollouts/fleet.ts';
import type { ClusterChange } from './rollouts/read.ts';

const KIND = 'MachineDeployment';
const CONFIG_TEMPLATES: Resource = {
  group: BOOTSTRAP_PROVIDER_GROUP,
  version: CLUSTER_API_VERSIONS[0],
  kind: KUBEADM_CONFIG_TEMPLATE,
  plural: 'kubeadmconfigtemplates',
  namespaced: true,
};

/** Undefined: the commit changes none. What cannot be read is named, and the rest of the plan is shown. */
export async function readDeployments(
  ports: PlanPorts,
  client: Client,
  { written, deleted, readFleet }: ClusterChange,
): Promise<TargetDeployments | undefined> {
  const changed = written.filter((object) => isDeployment(object));
  if (changed.length === 0) return undefined;
  try {
    const extension = await readExtension(ports, client);
    const facts = factsOf(withChange(await readFleet(), { written, deleted }), ports.clock.now());
    const deployments: PlannedDeployment[] = [];
    for (const after of changed) {
      const before = await unlessMissing(
        client.get(resourceFor(after), nameOf(after), { signal: ports.signal }),
      );
      if (!before) continue;
      const templates = await readTemplates(ports, client, { before, after, written });
      const decision = planDeployment({ before, after, templates }, facts, extension);
      if (decision) deployments.push(planned(after, decision));
    }
    return deployments.length === 0 ? undefined : { state: 'Known', deployments };
  } catch (error) {
    return { state: 'Unknown', because: ports.explain(error) };
  }
}

/** Sync has no right to read these templates either. */
async function readTemplates(
  ports: PlanPorts,
  client: Client,
  { before, after, written }: TemplateChange & Pick<ClusterChange, 'written'>,
): Promise<DeploymentChange['templates']> {
  const [first, second] = [before, after].map((deployment) => templateName(deployment));
  if (!first || !second) return undefined;
  try {
    const committed = written.find((object) => isTemplate(object, second));
    const [from, to] = await Promise.all([
      client.get(CONFIG_TEMPLATES, first, { signal: ports.signal }),
      committed ?? client.get(CONFIG_TEMPLATES, second, { signal: ports.signal }),
    ]);
    return { before: from, after: to };
  } catch (error) {
    return { unreadable: ports.explain(error) };
  }
}

function templateName(
  deployment: KubeObject,
): { readonly namespace: string; readonly name: string } | undefined {
  const name = configRefName(valueAt(deployment, 'spec', 'template', 'spec'), KUBEADM_CONFIG_TEMPLATE);
  return name === undefined ? undefined : { namespace: deployment.metadata.namespace ?? '', name };
}

function isTemplate(object: KubeObject, { namespace, name }: { namespace: string; name: string }): boolean {
  const { group, kind } = objectIdOf(object);
  const { metadata } = object;
  const isKind = group === BOOTSTRAP_PROVIDER_GROUP && kind === KUBEADM_CONFIG_TEMPLATE;
  return isKind && metadata.namespace === namespace && metadata.name === name;
}

function isDeployment(object: KubeObject): boolean {
  const { group, kind } = objectIdOf(object);
  return group === CLUSTER_API_GROUP && kind === KIND;
}

function resourceFor({ apiVersion }: KubeObject): Resource {
  const version = apiVersion.split('/')[1] ?? '';
  return { group: CLUSTER_API_GROUP, version, kind: KIND, plural: 'machinedeployments', namespaced: true };
}

/** As the extension has them once the commit is applied. */
function factsOf({ machines, nodes, components, servers }: RolloutFleet, now: Date): UpdateFacts {
  const rules = createEntryRules(components, servers);
  return { machines, nodeOf: (name) => nodes.get(name), rules, now };
}

/** Sync has no right to read ExtensionConfigs, unless a person gives it one. */
async function readExtension(ports: PlanPorts, client: Client): Promise<ExtensionState> {
  const { group, version, kind } = EXTENSION_CONFIGS;
  try {
    await client.resourceFor(`${group}/${version}`, kind);
    const configs = await collect(client, EXTENSION_CONFIGS, { signal: ports.signal }, (config) => config);
    return { state: configs.some((config) => isForUpdates(config)) ? 'Registered' : 'Missing' };
  } catch (error) {
    if (isKubeError(error, 'NotFound')) return { state: 'Missing' };
    if (isKubeError(error, 'Forbidden')) return { state: 'Unknown', because: ports.explain(error) };
    throw error;
  }
}

function isForUpdates(config: KubeObject): boolean {
  const hooks = listAt(config, 'status', 'handlers').map((each) => textAt(each, 'requestHook', 'hook'));
  return hooks.includes('CanUpdateMachineSet');
}

function planned(
  object: KubeObject,
  { type, because }: Pick<PlannedDeployment, 'type' | 'because'>,
): PlannedDeployment {
  const { namespace = '', name } = object.metadata;
  const replicas = valueAt(object, 'spec', 'replicas');
  return {
    name: `${namespace}/${name}`,
    replicas: typeof replicas === 'number' ? replicas : 1,
    type,
    because,
  };
}
