/** A Gitea server of its own, with one user, for tests. Must not import vitest. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { findFreePort } from '../../../src/os/net/ports.ts';
import { eventually } from '../eventually.ts';
import { run } from '../node-kit/shell.ts';
import { type GiteaProgram, giteaProgram } from './program.ts';

export const GITEA_USER = 'acme';
const PASSWORD = 'password-of-acme';

export interface Gitea extends AsyncDisposable {
  readonly url: string;
  /** Sends a request as the user. Rejects for an error. */
  api<T>(method: string, path: string, body?: object): Promise<T>;
  /** Returns the URL of a repository with the password of the user, for `git push`. */
  pushUrl(repository: string): string;
  /** Returns a new token that may write to repositories, and comment on their pull requests. */
  createToken(name: string): Promise<string>;
}

/** `folder`: an empty folder, for its data. */
export async function startGitea(folder: string): Promise<Gitea> {
  const [program, port] = [await giteaProgram(), await findFreePort()];
  const config = await prepare(program, folder, port);
  const env = { ...process.env, GITEA_WORK_DIR: folder };
  const gitea = (...args: string[]): Promise<unknown> =>
    run('env', [`GITEA_WORK_DIR=${folder}`, program.path, '--config', config, ...args], START_MS);
  await gitea('migrate');
  const user = ['--username', GITEA_USER, '--password', PASSWORD, '--email', 'acme@example.com'];
  await gitea('admin', 'user', 'create', ...user, '--must-change-password=false');
  const child = spawn(program.path, ['--config', config, 'web'], { env, stdio: 'ignore' });
  const exited = once(child, 'exit');
  const url = `http://127.0.0.1:${port}`;
  const server: Gitea = {
    url,
    api: (method, path, body) => request(`${url}/api/v1${path}`, method, body),
    pushUrl: (repository) =>
      `http://${GITEA_USER}:${PASSWORD}@127.0.0.1:${port}/${GITEA_USER}/${repository}.git`,
    async createToken(name) {
      const scopes = ['write:repository', 'write:issue'];
      const { sha1 } = await server.api<{ sha1: string }>('POST', `/users/${GITEA_USER}/tokens`, {
        name,
        scopes,
      });
      return sha1;
    },
    async [Symbol.asyncDispose]() {
      child.kill('SIGKILL');
      await exited;
    },
  };
  try {
    await eventually(async () => {
      if (child.exitCode !== null) throw new Error(`Gitea ended with exit code ${child.exitCode}`);
      return await server.api('GET', '/version').catch(() => undefined);
    }, 'Gitea does not answer');
  } catch (error) {
    await server[Symbol.asyncDispose]();
    throw error;
  }
  return server;
}

const START_MS = 120_000;

/** Writes the configuration, and unpacks the files that Gitea reads. Returns the path of the configuration. */
async function prepare({ files }: GiteaProgram, folder: string, port: number): Promise<string> {
  const path = join(folder, 'app.ini');
  const root = join(folder, 'files');
  mkdirSync(root, { recursive: true });
  await run('tar', ['-xf', files, '-C', root]);
  const lines = [
    ...(userInfo().uid === 0 ? ['I_AM_BEING_UNSAFE_RUNNING_AS_ROOT = true'] : []),
    `RUN_USER = ${userInfo().username}`,
    '[server]',
    `STATIC_ROOT_PATH = ${root}`,
    'HTTP_ADDR = 127.0.0.1',
    `HTTP_PORT = ${port}`,
    `ROOT_URL = http://127.0.0.1:${port}/`,
    'DISABLE_SSH = true',
    'OFFLINE_MODE = true',
    '[database]',
    'DB_TYPE = sqlite3',
    `PATH = ${join(folder, 'gitea.db')}`,
    '[repository]',
    `ROOT = ${join(folder, 'repositories')}`,
    '[security]',
    'INSTALL_LOCK = true',
    '[webhook]',
    'ALLOWED_HOST_LIST = loopback',
    '[log]',
    'LEVEL = Error',
  ];
  writeFileSync(path, `${lines.join('\n')}\n`, { mode: 0o600 });
  return path;
}

async function request<T>(url: string, method: string, body?: object): Promise<T> {
  const headers = {
    authorization: `Basic ${btoa(`${GITEA_USER}:${PASSWORD}`)}`,
    'content-type': 'application/json',
  };
  const answer = await fetch(url, { method, headers, ...(body ? { body: JSON.stringify(body) } : {}) });
  const text = await answer.text();
  if (!answer.ok) throw new Error(`Gitea answers ${answer.status} to ${method} ${url}: ${text}`);
  return JSON.parse(text === '' ? 'null' : text) as T;
}
