/** Asks the update extension what Cluster API asks it about machines, and measures the answers. */
import { Agent, request } from 'node:https';
import type { Client } from '../../src/kube/client/client.ts';
import { runConcurrently } from '../../src/kube/process/run-concurrently.ts';
import { KUBEADM_API_VERSION } from '../../test/support/cluster-api/infrastructure.ts';
import { THEIR_API_VERSION, WORKLOAD_NAMESPACE } from '../../test/support/cluster-api/workload-cluster.ts';
import { percentile } from '../bench.ts';
import { configSpec, FROM, TO } from './configs.ts';
import type { BenchControllers } from './controllers.ts';
import { beginUpdate, indexes, LABELS, theirName } from './fleet.ts';

/** How often each question is asked. */
const ASKED = 100;

type Hook = 'CanUpdateMachineSet' | 'CanUpdateMachine' | 'UpdateMachine';
type Versions = Record<keyof typeof FROM, string>;
const VERSION: Versions = { ...FROM, kubelet: TO.kubelet };
/** Of the component, with the version. */
const FILES: Versions = TO;

/** Each hook, by what is asked for and by how the client connects. */
export type HookTimes = Readonly<Record<string, Percentiles>>;

export interface Percentiles {
  readonly p50Ms: number;
  readonly p95Ms: number;
}

interface Question {
  readonly hook: Hook;
  readonly to: Versions;
  /** The client keeps its connection. */
  readonly isKept: boolean;
  /** What the answer has to have; undefined: nothing but that the update has begun. */
  readonly patch?: string;
}

/** By the names of the results: `canUpdateMachineFilesUnkept`. */
const QUESTIONS: readonly Question[] = [
  { hook: 'CanUpdateMachineSet', to: VERSION, isKept: true, patch: 'machineSetPatch' },
  { hook: 'CanUpdateMachineSet', to: FILES, isKept: true, patch: 'bootstrapConfigTemplatePatch' },
  { hook: 'CanUpdateMachineSet', to: FILES, isKept: false, patch: 'bootstrapConfigTemplatePatch' },
  { hook: 'CanUpdateMachine', to: VERSION, isKept: true, patch: 'machinePatch' },
  { hook: 'CanUpdateMachine', to: FILES, isKept: true, patch: 'bootstrapConfigPatch' },
  { hook: 'CanUpdateMachine', to: FILES, isKept: false, patch: 'bootstrapConfigPatch' },
  { hook: 'UpdateMachine', to: VERSION, isKept: true },
  { hook: 'UpdateMachine', to: FILES, isKept: true },
  { hook: 'UpdateMachine', to: FILES, isKept: false },
];

/** Machines are those of a fleet of this size. */
export async function measureHooks(
  client: Client,
  controllers: BenchControllers,
  machines: number,
): Promise<HookTimes> {
  const times: Record<string, Percentiles> = {};
  for (const [index, question] of QUESTIONS.entries()) {
    const { hook, to, isKept } = question;
    const agent = new Agent({ keepAlive: isKept, maxSockets: 1 });
    const bodies =
      hook === 'UpdateMachine' ? await updates(client, { index, machines }, to) : covers(hook, machines, to);
    const name = `${hook.charAt(0).toLowerCase()}${hook.slice(1)}${to === FILES ? 'Files' : 'Version'}`;
    times[isKept ? name : `${name}Unkept`] = await measureAnswers({ controllers, agent, question }, bodies);
    agent.destroy();
  }
  return times;
}

function covers(hook: Hook, machines: number, to: Versions): readonly object[] {
  if (hook === 'CanUpdateMachineSet') return indexes(ASKED).map(() => setQuestion(machines, to));
  return indexes(Math.min(ASKED, machines)).map((index) => machineQuestion(index, to));
}

/** Begins the updates of other machines for each question. The first answer about one writes the assignment, and the next one finds it. */
async function updates(
  client: Client,
  { index, machines }: { readonly index: number; readonly machines: number },
  to: Versions,
): Promise<readonly object[]> {
  const part = Math.min(ASKED, Math.floor(machines / QUESTIONS.length));
  const each = indexes(part).map((offset) => index * part + offset);
  await runConcurrently(each, (machine) => beginUpdate(client, machine, to));
  const bodies = each.map((machine) => ({ desired: machineParts(machine, to) }));
  return [...bodies, ...bodies];
}

type Answer = Readonly<Record<string, unknown>>;

function isExpected({ patch }: Question, answer: Answer): boolean {
  const { status, retryAfterSeconds } = answer;
  return (
    status === 'Success' && (patch === undefined ? retryAfterSeconds !== 0 : answer[patch] !== undefined)
  );
}

interface Asked {
  readonly controllers: BenchControllers;
  readonly agent: Agent;
  readonly question: Question;
}

/** One after the other. */
async function measureAnswers(asked: Asked, bodies: readonly object[]): Promise<Percentiles> {
  const times: number[] = [];
  for (const body of bodies) {
    const text = JSON.stringify(body);
    const began = performance.now();
    const answer = await send(asked, text);
    times.push(performance.now() - began);
    if (!isExpected(asked.question, JSON.parse(answer) as Answer)) {
      throw new Error(`${asked.question.hook}: unexpected answer ${answer.slice(0, 1000)}`);
    }
  }
  return { p50Ms: percentile(times, 0.5), p95Ms: percentile(times, 0.95) };
}

function send(
  { controllers: { port, ca }, question: { hook }, agent }: Asked,
  text: string,
): Promise<string> {
  const name = hook.toLowerCase();
  const path = `/hooks.runtime.cluster.x-k8s.io/v1alpha1/${name}/kubenode-${name}`;
  return new Promise((resolve, reject) => {
    const sent = request({ method: 'POST', host: '127.0.0.1', port, path, ca, agent }, (response) => {
      let answer = '';
      response.setEncoding('utf8').on('data', (chunk: string) => {
        answer += chunk;
      });
      response.once('end', () => resolve(answer)).once('error', reject);
    });
    sent.once('error', reject).end(text);
  });
}

function setQuestion(replicas: number, to: Versions): object {
  const parts = (versions: Versions): object => {
    const metadata = { namespace: WORKLOAD_NAMESPACE, name: 'workers' };
    const template = {
      metadata: { labels: LABELS },
      spec: { clusterName: 'c', version: `v${versions.kubelet}` },
    };
    const spec = { clusterName: 'c', replicas, selector: { matchLabels: LABELS }, template };
    return {
      machineSet: { apiVersion: THEIR_API_VERSION, kind: 'MachineSet', metadata, spec },
      bootstrapConfigTemplate: {
        apiVersion: KUBEADM_API_VERSION,
        kind: 'KubeadmConfigTemplate',
        metadata,
        spec: { template: { spec: configSpec(versions.config) } },
      },
    };
  };
  return { current: parts(FROM), desired: parts(to) };
}

function machineQuestion(index: number, to: Versions): object {
  return { current: machineParts(index, FROM), desired: machineParts(index, to) };
}

function machineParts(index: number, { kubelet, config }: Versions): object {
  const metadata = { namespace: WORKLOAD_NAMESPACE, name: theirName(index) };
  const spec = { clusterName: 'c', version: `v${kubelet}` };
  return {
    machine: { apiVersion: THEIR_API_VERSION, kind: 'Machine', metadata, spec },
    bootstrapConfig: {
      apiVersion: KUBEADM_API_VERSION,
      kind: 'KubeadmConfig',
      metadata,
      spec: configSpec(config),
    },
  };
}
