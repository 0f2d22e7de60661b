/** A tour on a real repository of the demo, with a hub in memory, in which one expectation is not verified. */
import { execFileSync } from 'node:child_process';
import { copyFileSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { openDemoRepository } from '../../../src/demo/tour/repository.ts';
import type { Tour } from '../../../src/demo/tour/step.ts';
import type { Client } from '../../../src/kube/client/client.ts';
import { tempFolder } from '../temp.ts';

const TEMPLATE = new URL('../../../src/demo/template/templates/demo/', import.meta.url);
const FILES = ['fleet/pipelines.ts', 'fleet/versions.ts', 'fleet/web.ts', 'rules/fleet-default.ts'];

export interface FailingTour {
  readonly tour: Tour;
  /** What the repository contains. */
  readonly content: () => string;
  /** The Secrets that are left in the hub. */
  readonly secrets: Set<string>;
  /** How many expectations there were. */
  readonly verified: () => number;
}

/** `failAt`: the number of the expectation that is not verified; 0 fails none. */
export async function createFailingTour(failAt: number, webhookPort = 1): Promise<FailingTour> {
  const folder = createRepository();
  const secrets = new Set<string>();
  let count = 0;
  const tour = {
    repository: await openDemoRepository(folder),
    now: () => new Date('2030-01-01T00:00:00Z'),
    client: async () => hubWith(secrets),
    say: () => undefined,
    show: async () => '',
    verify: async ({ what }) => {
      count += 1;
      if (count === failAt) throw new Error(`not verified: ${what}`);
    },
    programs: async () => [syncOn(webhookPort)],
  } satisfies Partial<Tour>;
  return { tour: tour as unknown as Tour, content: () => contentOf(folder), secrets, verified: () => count };
}

function createRepository(): string {
  const folder = tempFolder('tour');
  for (const file of FILES) {
    mkdirSync(join(folder, dirname(file)), { recursive: true });
    copyFileSync(new URL(file, TEMPLATE), join(folder, file));
  }
  writeFileSync(join(folder, 'fleet/local.json'), '{}');
  git(folder, 'init', '--quiet', '--initial-branch=main');
  git(folder, 'add', '.');
  git(folder, '-c', 'user.name=a', '-c', 'user.email=a@b', 'commit', '--quiet', '-m', 'The fleet');
  return folder;
}

function contentOf(folder: string): string {
  return git(folder, 'status', '--porcelain') + git(folder, 'ls-tree', '-r', 'HEAD');
}

function git(folder: string, ...args: readonly string[]): string {
  return execFileSync('git', ['-C', folder, ...args], { encoding: 'utf8' }).trim();
}

function hubWith(secrets: Set<string>): Client {
  const client: Pick<Client, 'list' | 'create' | 'delete'> = {
    list: async () => ({ items: [{ metadata: { name: 'fleet' } }] }) as never,
    async create(_, object) {
      secrets.add(object.metadata.name);
      return { ...object, metadata: { ...object.metadata, uid: 'u' } } as never;
    },
    async delete(_, { name }) {
      secrets.delete(name);
      return undefined;
    },
  };
  return client as Client;
}

function syncOn(port: number): Awaited<ReturnType<Tour['programs']>>[number] {
  const command = ['sync', '--webhook-port', String(port)];
  return { name: 'sync', identity: { pid: 7, startTicks: '1', bootId: 'b', command } };
}
