/** Provider azure with our server, which answers as Azure documents it, behind a proxy that injects faults. Must not import vitest. */

import { createSystemClock } from '../../../src/os/system-clock.ts';
import { openAzureProvider } from '../../../src/providers/azure/provider.ts';
import type { CloudProviderOptions } from '../../../src/providers/cloud/options.ts';
import { TAG_MACHINE_UID } from '../../../src/providers/cloud/tags.ts';
import type { Provider, ProviderErrorCode } from '../../../src/providers/contract.ts';
import { createFastClock } from '../../support/fast-clock.ts';
import {
  type CloudAnswer,
  type CloudFault,
  type CloudProxy,
  type CloudRequest,
  startCloudProxy,
} from '../cloud/cloud-proxy.ts';
import type { CloudAccount, ContractCall, ContractFault, ContractHarness } from '../contract/harness.ts';
import { type Arm, createArm, GROUP, SUBSCRIPTION } from './server/arm.ts';
import { type ArmRefusal, REFUSALS, refusalAnswer } from './server/refusal.ts';
import { CLIENT, CLIENT_SECRET, TENANT } from './server/tokens.ts';
import type { Vm } from './server/vms.ts';

export interface AzureBed extends ContractHarness {
  readonly arm: Arm;
  readonly proxy: CloudProxy;
  readonly env: Readonly<Record<string, string>>;
  /** Opens a provider with these changes of its options. */
  readonly openWith: (changes?: Partial<CloudProviderOptions>) => Provider;
  readonly vmOf: (machineUid: string) => Vm;
}

export const CONFIG = {
  vmSize: 'Standard_D4s_v5',
  image: { publisher: 'debian', offer: 'debian-12', sku: '12-gen2' },
  subnetId: `${GROUP}/providers/Microsoft.Network/virtualNetworks/fleet/subnets/nodes`,
  sshPublicKey: 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIKtest ops@example.com',
};

export const AGENT = { url: 'https://example.com/kubenode-agent.gz', sha256: 'a'.repeat(64) };

/** Five seconds, because the clock is a hundred times as fast: the machine of the tests may be busy. */
const TIMEOUT_MS = 500_000;

export async function openAzureBed(): Promise<AzureBed> {
  let origin = '';
  const arm = createArm(createSystemClock(), () => origin);
  const proxy = await startCloudProxy((request) => arm.answer(request));
  origin = proxy.url;
  const env = {
    AZURE_SUBSCRIPTION_ID: SUBSCRIPTION,
    AZURE_RESOURCE_GROUP: 'nodes',
    AZURE_LOCATION: 'westeurope',
    AZURE_RESOURCE_MANAGER_ENDPOINT: origin,
    AZURE_AUTHORITY_HOST: origin,
    AZURE_TENANT_ID: TENANT,
    AZURE_CLIENT_ID: CLIENT,
    AZURE_CLIENT_SECRET: CLIENT_SECRET,
  };
  const options = { clock: createFastClock(), agent: AGENT, timeoutMs: TIMEOUT_MS };
  const openWith = (changes: Partial<CloudProviderOptions> = {}): Provider =>
    openAzureProvider({ ...options, env, ...changes });
  const vmsOf = (uid: string): readonly Vm[] =>
    [...arm.vms.values()].filter(({ tags }) => tags[TAG_MACHINE_UID] === uid);
  return {
    arm,
    proxy,
    env,
    openWith,
    provider: openWith(),
    reopen: () => Promise.resolve(openWith()),
    vmOf(uid) {
      const [vm] = vmsOf(uid);
      if (!vm) throw new Error(`no virtual machine of ${uid}`);
      return vm;
    },
    countHosts: (uid) => Promise.resolve(vmsOf(uid).filter(({ power }) => power !== 'stopped').length),
    crash(uid) {
      for (const vm of vmsOf(uid)) vm.power = 'stopped';
      return Promise.resolve();
    },
    visibleTexts: () => readAll(arm, proxy),
    fail: (how) => Promise.resolve(fail(proxy, how)),
    async inject(fault, call) {
      proxy.next(matcherOf(fault, call), FAULTS[fault]);
    },
    unusedId: () => idOf('0b6f4a52-8a0e-4c55-9d0d-6a0f2b6f1c11'),
    futureId: idOf,
    account: createAccount(arm, proxy, vmsOf),
    async [Symbol.asyncDispose]() {
      const { pending } = proxy;
      await proxy[Symbol.asyncDispose]();
      // A case without its fault proves nothing.
      if (pending > 0) throw new Error(`${pending} faults were not injected`);
      if (arm.leaked.length > 0) throw new Error(`interfaces or disks stayed: ${arm.leaked.join(', ')}`);
    },
  };
}

function createAccount(arm: Arm, proxy: CloudProxy, vmsOf: (uid: string) => readonly Vm[]): CloudAccount {
  return {
    // A virtual machine with our tags and another name is not ours.
    copies: 'NotOurs',
    expire: (calls) =>
      proxy.always((request) =>
        calls.some((call) => OF_CALL[call](request))
          ? { type: 'Answer', answer: refusalAnswer(REFUSALS.expiredToken()) }
          : undefined,
      ),
    removeByHand(uid) {
      for (const { name } of vmsOf(uid)) arm.vms.delete(name);
      return Promise.resolve();
    },
    copyByHand(uid) {
      for (const vm of vmsOf(uid)) arm.vms.set('copy-of-a-person', { ...vm, name: 'copy-of-a-person' });
      return Promise.resolve();
    },
  };
}

export function idOf(machineUid: string): string {
  return `azure://${GROUP}/providers/Microsoft.Compute/virtualMachines/kubenode-${machineUid}`;
}

/** What everybody with the right to read may read. */
async function readAll(arm: Arm, proxy: CloudProxy): Promise<readonly string[]> {
  const token = proxy.requests.find(({ headers }) => headers['authorization'] !== undefined)?.headers;
  const paths = [...arm.vms.keys()].map((name) => `${VMS}/${name}?api-version=x&$expand=instanceView`);
  const read = async (path: string): Promise<string> =>
    (await arm.answer({ method: 'GET', path, headers: token ?? {}, body: '' })).body;
  const deployments = JSON.stringify([...arm.deployments]);
  return [...(await Promise.all([`${VMS}?api-version=x`, ...paths].map(read))), deployments];
}

const VMS = `${GROUP}/providers/Microsoft.Compute/virtualMachines`;

const FAULTS: Readonly<Record<ContractFault, CloudFault>> = {
  AnswerLost: { type: 'LoseAnswer' },
  TimeOutAfterSuccess: { type: 'NeverAnswer' },
  Throttled: { type: 'Answer', answer: refusalAnswer(REFUSALS.throttled()) },
  StaleList: { type: 'Answer', answer: refusalAnswer(REFUSALS.noVm('new')) },
  WrongOrder: { type: 'ChangeAnswer', change: reversed },
  HalfPage: { type: 'CutAnswer' },
};

function reversed(answer: CloudAnswer): CloudAnswer {
  const body = JSON.parse(answer.body) as { readonly value: readonly unknown[] };
  return { ...answer, body: JSON.stringify({ ...body, value: body.value.toReversed() }) };
}

const OF_CALL: Readonly<Record<ContractCall, (request: CloudRequest) => boolean>> = {
  create: isVmPut,
  get: isVmGet,
  find: ({ method, path }) => method === 'GET' && /\/virtualMachines\?/.test(path),
  delete: ({ method, path }) => method === 'DELETE' && path.includes('/virtualMachines/'),
  power: ({ method, path }) => method === 'POST' && path.includes('/virtualMachines/'),
  events: ({ method, path }) => method === 'GET' && path.includes('/Microsoft.ResourceHealth/events?'),
};

export function isVmPut({ method, path }: CloudRequest): boolean {
  return method === 'PUT' && path.includes('/virtualMachines/');
}

export function isVmGet({ method, path }: CloudRequest): boolean {
  return method === 'GET' && path.includes('/virtualMachines/');
}

/** Faults of what is read are in what a creation looks up first. */
function matcherOf(fault: ContractFault, call: ContractCall): (request: CloudRequest) => boolean {
  const isRead = fault === 'StaleList' || fault === 'HalfPage';
  return isRead && call === 'create' ? OF_CALL.get : OF_CALL[call];
}

const FAILURES: Readonly<Partial<Record<ProviderErrorCode, () => ArmRefusal>>> = {
  Quota: REFUSALS.noStock,
  Auth: REFUSALS.noRight,
  Retryable: REFUSALS.throttled,
  Ambiguous: REFUSALS.unavailable,
  Terminal: REFUSALS.noImage,
};

function fail(proxy: CloudProxy, code: ProviderErrorCode): () => Promise<void> {
  const refusal = FAILURES[code];
  if (!refusal) throw new Error(`Azure does not fail with ${code}`);
  const end = proxy.always((request) =>
    isVmPut(request) ? { type: 'Answer', answer: refusalAnswer(refusal()) } : undefined,
  );
  return () => Promise.resolve(end());
}
