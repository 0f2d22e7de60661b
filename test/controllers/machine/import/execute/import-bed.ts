/** The machine controller over an API server in memory, hosts in memory, and a cluster that approves and signs as the real one does. */
import { DEFENDER_LEDGERS, MACHINES } from '../../../../../src/api/generated/resources.ts';
import type { Machine } from '../../../../../src/api/generated/types.ts';
import { PRINCIPAL_MACHINE, serviceAccountUser } from '../../../../../src/api/names.ts';
import { readRequest } from '../../../../../src/controllers/approver/observe.ts';
import { planApproval } from '../../../../../src/controllers/approver/plan.ts';
import { createMachineController } from '../../../../../src/controllers/machine/controller.ts';
import type { ImportParts } from '../../../../../src/controllers/machine/import/execute/steps.ts';
import type { InstanceParts } from '../../../../../src/controllers/machine/instance/calls.ts';
import {
  CERTIFICATE_REQUESTS,
  type CertificateRequestObject,
} from '../../../../../src/kube/auth/certificate-requests.ts';
import { KubeError } from '../../../../../src/kube/client/errors.ts';
import { NODES, SECRETS } from '../../../../../src/kube/objects/core-kinds.ts';
import type { KubeObject } from '../../../../../src/kube/objects/object.ts';
import { optional } from '../../../../../src/kube/objects/optional.ts';
import { servedKind } from '../../../../../src/sim/api-server/kinds.ts';
import { condition, machine } from '../../../../support/builders.ts';
import { type ControllerBed, createControllerBed } from '../../../../support/controller/bed.ts';
import { HOST_KEY, type MemoryHosts, memoryHosts } from '../../../../support/import-hosts.ts';

export const CERTIFICATE = 'CERTIFICATE';
type ImportSpec = Partial<NonNullable<Machine['spec']['import']>>;

export interface ImportBed extends ControllerBed {
  readonly hosts: MemoryHosts;
  /** The Secret with the SSH key, which is read at each step. Undefined: there is none. */
  readonly secret: { current: KubeObject | undefined };
  readonly machine: (name?: string) => Machine | undefined;
  /** Approves and signs what the approver would approve now, and returns the decisions. */
  readonly sign: () => string[];
  /** The agent renews its Lease. */
  readonly beat: (name?: string) => void;
  /** Phase, step and reason of what the machine waits for. */
  readonly tell: (name?: string) => string;
}

export function sshSecret(
  annotations: Record<string, string> = { 'kubenode.dev/secret-use': 'ssh' },
): KubeObject {
  const data = { 'ssh-privatekey': Buffer.from('KEY').toString('base64') };
  const metadata = { name: 'rack7-ssh', namespace: 'kubenode-system', annotations };
  return { apiVersion: 'v1', kind: 'Secret', metadata, data };
}

export function importedMachine(
  name: string,
  host: ImportSpec = {},
  spec: Partial<Machine['spec']> = {},
): Machine {
  const {
    status: _,
    metadata,
    ...rest
  } = machine(name, {
    spec: {
      infra: { provider: 'ssh', config: {} },
      import: {
        address: '10.0.0.1',
        port: 22,
        user: 'root',
        credentialsRef: { name: 'rack7-ssh', key: 'ssh-privatekey' },
        hostKeyPolicy: 'Pinned',
        hostKeys: [HOST_KEY],
        existingNode: 'Reject',
        dryRun: false,
        skipChecks: [],
        ...host,
      },
      components: [],
      ...spec,
    },
  });
  return { ...rest, metadata: { name: metadata.name } };
}

async function* noPages(): AsyncGenerator<never> {}

/** `openInstances`: the providers, with what imports hosts. */
export function importBed(
  objects: readonly Machine[] = [importedMachine('m')],
  openInstances?: (imports: ImportParts) => InstanceParts,
): ImportBed {
  const hosts = memoryHosts();
  const secret: { current: KubeObject | undefined } = { current: sshSecret() };
  const bed = createControllerBed({
    controllers: () => [
      createMachineController({
        ...optional('instances', openInstances?.(importParts())),
        client: { pages: noPages, get: readSecret } as never,
        grants: {
          ask: async (asks) => asks.map(() => ({ granted: true, id: 'g-1', fence: 1 }) as never),
          settle: async () => undefined,
          renew: async () => [{ granted: true } as never],
        },
        imports: importParts(),
      }),
    ],
    kinds: [
      servedKind(MACHINES),
      servedKind(NODES),
      { resource: DEFENDER_LEDGERS },
      { resource: CERTIFICATE_REQUESTS },
    ],
    objects,
  });
  const observed = (name = 'm'): Machine | undefined => bed.get<Machine>(MACHINES, name);
  return Object.assign(bed, {
    hosts,
    secret,
    machine: observed,
    sign: () => sign(bed),
    beat: (name = 'm') => beat(bed, name),
    tell: (name = 'm') => tell(observed(name)),
  });

  function importParts(): ImportParts {
    return {
      hosts,
      clock: bed.clock,
      client: { get: readSecret } as never,
      access: async () => ({ server: 'https://api.example.com:6443', ca: 'CA' }),
    };
  }

  async function readSecret(resource: unknown): Promise<KubeObject> {
    if (resource === SECRETS && secret.current) return secret.current;
    throw new KubeError('NotFound', 'secrets "rack7-ssh" not found');
  }
}

function sign(bed: ControllerBed): string[] {
  const requests = bed.api.objects.list({ resource: CERTIFICATE_REQUESTS }) as CertificateRequestObject[];
  return requests.flatMap((object) => {
    const spec = { ...object.spec, username: serviceAccountUser(PRINCIPAL_MACHINE), groups: [] };
    const request = readRequest({ ...object, spec });
    const approval = planApproval(request, {
      now: bed.clock.now(),
      machine: (name) => bed.get<Machine>(MACHINES, name),
      component: () => undefined,
      heartbeatAgeMs: () => undefined,
      approvedBy: () => [],
      approvedFor: () => [],
    });
    if (approval.type !== 'Approve') {
      return approval.type === 'Leave' ? [] : [`${approval.type}: ${approval.because}`];
    }
    const conditions = [{ type: 'Approved', status: 'True', reason: 'KubenodeApproved', message: '' }];
    const certificate = Buffer.from(CERTIFICATE).toString('base64');
    const { apiVersion, kind } = object;
    const metadata = { name: object.metadata.name };
    bed.apply({ apiVersion, kind, metadata, status: { certificate, conditions } }, 'status');
    return [`Approve: ${approval.because}`];
  });
}

function beat(bed: ControllerBed, name: string): void {
  bed.apply({
    apiVersion: 'coordination.k8s.io/v1',
    kind: 'Lease',
    metadata: { name, namespace: 'kubenode-agents' },
    spec: { renewTime: bed.clock.now().toISOString() },
  });
}

/** What the agent and the kubelet of a machine report. */
export function joinNode(bed: ControllerBed, name = 'm'): void {
  const machineStatus = { conditions: [condition('ComponentsReady', 'True'), condition('UpToDate', 'True')] };
  const kind = { apiVersion: 'kubenode.dev/v1alpha1', kind: 'Machine', metadata: { name } };
  bed.apply({ ...kind, status: machineStatus }, 'status');
  const node = { apiVersion: 'v1', kind: 'Node', metadata: { name } };
  bed.apply({ ...node, spec: {} });
  bed.apply({ ...node, status: { conditions: [condition('Ready', 'True')] } }, 'status');
}

function tell(found: Machine | undefined): string {
  const { phase, waiting, conditions = [] } = found?.status ?? {};
  const step = conditions.find(({ type }) => type === 'Progressing')?.reason;
  return waiting ? `${phase} ${step}: ${waiting.reason}` : `${phase}`;
}
