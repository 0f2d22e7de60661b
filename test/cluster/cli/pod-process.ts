/** The container of a Deployment of kubenode as a process of this machine, with the token, the CA and the variables of a pod. */
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { onTestFinished } from 'vitest';
import { NAMESPACE } from '../../../src/api/names.ts';
import { CACHE_FOLDER } from '../../../src/deploy/programs.ts';
import { listAt } from '../../../src/kube/objects/json.ts';
import type { KubeObject, Resource } from '../../../src/kube/objects/object.ts';
import type { ApiServer } from '../../support/control-plane.ts';
import { eventually } from '../../support/eventually.ts';
import { tempFolder } from '../../support/temp.ts';

const PROGRAM = join(import.meta.dirname, '../../../bin/kubenode.js');
const run = promisify(execFile);

export const DEPLOYMENTS: Resource = {
  group: 'apps',
  version: 'v1',
  kind: 'Deployment',
  plural: 'deployments',
  namespaced: true,
};

export function deployment(server: ApiServer, name: string): Promise<KubeObject> {
  return server.client.get(DEPLOYMENTS, { namespace: NAMESPACE, name });
}

/** A command that isolates what follows, and may write only to this folder. Its process may be another one than that of the program. */
export type Isolate = (folder: string) => readonly string[];

export interface Pod {
  readonly pid: number | undefined;
  /** Resolves with the status of /readyz once it is 200. */
  ready(): Promise<number>;
  log(): string;
  stop(): Promise<void>;
}

/** Runs with the arguments of the Deployment, and more. It ends with the test. */
export async function startPod(
  server: ApiServer,
  name: string,
  more: readonly string[] = [],
  isolate: Isolate = () => [],
): Promise<Pod> {
  const container = listAt(await deployment(server, name), 'spec', 'template', 'spec', 'containers')[0];
  const home = tempFolder('pod');
  const args = listAt(container, 'args').map((arg) => inProcess(String(arg), home));
  const [program, ...words] = [...isolate(home), process.execPath, PROGRAM, ...args, ...more];
  const child = spawn(program ?? process.execPath, words, {
    cwd: home,
    env: { PATH: process.env['PATH'], HOME: home, TMPDIR: home, ...(await podVariables(server, name, home)) },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  onTestFinished(() => ended(child, 'SIGKILL'));
  let log = '';
  child.stderr.on('data', (chunk: Buffer) => {
    log += chunk.toString();
  });
  return {
    pid: child.pid,
    ready: () =>
      eventually(async () => ((await statusOf(log)) === 200 ? 200 : undefined), `${name} is not ready`),
    log: () => log,
    stop: () => ended(child, 'SIGTERM'),
  };
}

/** A container has these to itself: a process of this machine does not. */
function inProcess(arg: string, home: string): string {
  return arg
    .replace('$(POD_IP)', '127.0.0.1')
    .replace(CACHE_FOLDER, home)
    .replace(/^(?:8080|8444|8484)$/, '0');
}

async function podVariables(
  server: ApiServer,
  account: string,
  home: string,
): Promise<Readonly<Record<string, string>>> {
  const { hostname, port } = new URL(server.url);
  const command = ['--kubeconfig', server.kubeconfig, '-n', NAMESPACE, 'create', 'token', account];
  const { stdout } = await run(server.kubectl, command);
  writeFileSync(join(home, 'token'), stdout.trim());
  writeFileSync(join(home, 'ca.crt'), server.caPem);
  return {
    KUBERNETES_SERVICE_HOST: hostname,
    KUBERNETES_SERVICE_PORT: port,
    KUBENODE_SERVICE_ACCOUNT_FOLDER: home,
    XDG_CACHE_HOME: home,
  };
}

/** Undefined until the health server listens. */
async function statusOf(log: string): Promise<number | undefined> {
  const url = /"(?:url|health)":"(?<url>http:[^"]+)"/.exec(log)?.groups?.['url'];
  return url === undefined ? undefined : (await fetch(`${url}/readyz`)).status;
}

async function ended(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.kill(signal);
  await once(child, 'exit');
}
