/** What the plan of a commit shows about machines of Cluster API, over an API server in memory that holds a few objects. */
import { describe, expect, it } from 'vitest';
import type { MachineComponent } from '../../../src/api/generated/types.ts';
import { readDeployments } from '../../../src/cli/plan/machine-deployments.ts';
import type { PlanPorts } from '../../../src/cli/plan/ports.ts';
import type { RolloutFleet } from '../../../src/cli/plan/rollouts/fleet.ts';
import type { Client } from '../../../src/kube/client/client.ts';
import { KubeError, type KubeErrorCode } from '../../../src/kube/client/errors.ts';
import type { KubeObject, Resource } from '../../../src/kube/objects/object.ts';
import { updatable } from '../../controllers/following/clusterapi/extension/facts.ts';
import {
  configOf,
  FILE,
  fileMachine,
  KUBELETS,
  RUNTIMES,
} from '../../controllers/following/clusterapi/extension/files/bed.ts';
import { testIo } from '../../support/test-io.ts';
import { kubelet } from './rollouts/rollout-fleet.ts';

const PORTS = {
  ...testIo(),
  warn: () => undefined,
  explain: (error: unknown) => (error as Error).message,
} as PlanPorts;
const BEFORE = deployment('v1.34.1');
const AFTER = deployment('v1.34.2');
const OTHER: KubeObject = {
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name: 'a', namespace: 'fleet' },
};

function deployment(version: string): KubeObject {
  const matchLabels = { pool: 'general' };
  const template = { metadata: { labels: matchLabels }, spec: { version } };
  return {
    apiVersion: 'cluster.x-k8s.io/v1beta2',
    kind: 'MachineDeployment',
    metadata: { name: 'workers', namespace: 'fleet' },
    spec: { replicas: 2, selector: { matchLabels }, template },
  };
}

function withTemplate(object: KubeObject, name: string): KubeObject {
  const { spec } = object as unknown as { spec: { template: { spec: object } } };
  const configRef = { apiGroup: 'bootstrap.cluster.x-k8s.io', kind: 'KubeadmConfigTemplate', name };
  const template = { ...spec.template, spec: { ...spec.template.spec, bootstrap: { configRef } } };
  return { ...object, spec: { ...spec, template } };
}

function configTemplate(name: string, content: string): KubeObject {
  return {
    apiVersion: 'bootstrap.cluster.x-k8s.io/v1beta2',
    kind: 'KubeadmConfigTemplate',
    metadata: { name, namespace: 'fleet' },
    spec: { template: { spec: configOf(content) } },
  };
}

function fleet(...components: readonly MachineComponent[]): RolloutFleet {
  return {
    sets: [],
    components,
    machines: [updatable(1), updatable(2)],
    nodes: new Map(),
    grants: {},
    revisions: new Map(),
    servers: { state: 'Known', versions: ['v1.34.5'] },
  };
}

interface Parts {
  readonly written?: readonly KubeObject[];
  readonly live?: KubeObject;
  /** The template that is in the cluster, or the error. */
  readonly template?: KubeObject | 'Forbidden';
  readonly hooks?: readonly string[] | KubeErrorCode;
  readonly fleet?: RolloutFleet | Error;
}

async function plan(parts: Parts = {}) {
  const { written = [AFTER, kubelet('1.34.2')], live = BEFORE, hooks = ['CanUpdateMachineSet'] } = parts;
  const { fleet: read = fleet(kubelet('1.34.1')) } = parts;
  const handlers = Array.isArray(hooks) ? hooks.map((hook: string) => ({ requestHook: { hook } })) : [];
  const config = { metadata: { name: 'kubenode' }, status: { handlers } };
  const client = {
    server: 'https://test',
    resourceFor: async () => {
      await Promise.resolve();
      if (hooks === 'NotFound') throw new KubeError('NotFound', 'not served');
    },
    async *pages() {
      await Promise.resolve();
      if (hooks === 'Forbidden') throw new KubeError('Forbidden', 'forbidden');
      yield { items: [config] };
    },
    get: async ({ kind }: Resource) => {
      await Promise.resolve();
      if (kind !== 'KubeadmConfigTemplate') return live;
      if (parts.template === 'Forbidden') throw new KubeError('Forbidden', 'templates are forbidden');
      return parts.template;
    },
  } as unknown as Client;
  const readFleet = async (): Promise<RolloutFleet> => {
    await Promise.resolve();
    if (read instanceof Error) throw read;
    return read;
  };
  return await readDeployments(PORTS, client, { written, deleted: [], readFleet });
}

const IN_PLACE = 'a component covers version v1.34.2 on each machine';

describe('readDeployments', () => {
  it('sees that a commit with the version of Kubernetes and its component updates in place', async () => {
    const deployments = [{ name: 'fleet/workers', replicas: 2, type: 'InPlace', because: IN_PLACE }];
    expect(await plan()).toEqual({ state: 'Known', deployments });
  });

  it('sees that the same commit without the component replaces, and one without the extension', async () => {
    expect(await plan({ written: [AFTER] })).toMatchObject({
      deployments: [{ type: 'Replace', because: 'no MachineComponent is kubelet v1.34.2' }],
    });
    for (const hooks of ['NotFound', ['BeforeClusterCreate']] as const) {
      expect(await plan({ hooks })).toMatchObject({
        deployments: [{ type: 'Replace', because: 'no ExtensionConfig for updates in place is registered' }],
      });
    }
  });

  it('names what it may not read', async () => {
    expect(await plan({ hooks: 'Forbidden' })).toMatchObject({
      deployments: [{ type: 'InPlace', because: `${IN_PLACE}, if the extension is registered: forbidden` }],
    });
    expect(await plan({ fleet: new Error('machines are forbidden') })).toEqual({
      state: 'Unknown',
      because: 'machines are forbidden',
    });
  });

  it('CAP-17 reads the templates of bootstrap configs, the new one from the commit', async () => {
    const parts = {
      written: [withTemplate(BEFORE, 'new'), configTemplate('new', 'a = 2'), ...RUNTIMES],
      live: withTemplate(BEFORE, 'old'),
      template: configTemplate('old', 'a = 1'),
      fleet: {
        ...fleet(...KUBELETS),
        machines: [1, 2].map((n) => fileMachine(n, { config: configOf('a = 1') })),
      },
    };
    expect(await plan(parts)).toMatchObject({
      deployments: [{ type: 'InPlace', because: `components cover ${FILE} on each machine` }],
    });
    expect(await plan({ ...parts, template: 'Forbidden' })).toMatchObject({
      deployments: [
        {
          type: 'Replace',
          because: 'no component is known to cover spec.bootstrap: templates are forbidden',
        },
      ],
    });
  });

  it('is left out where the commit changes no machines of Cluster API', async () => {
    expect(await plan({ written: [OTHER], fleet: new Error('not read') })).toBeUndefined();
    expect(await plan({ live: AFTER })).toBeUndefined();
  });
});
