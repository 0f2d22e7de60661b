/** What the agent relies on in every implementation of the port Host. */
import { createHash } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Host, UnitDefinition } from '../../../src/agent/host/port.ts';
import { eventually } from '../eventually.ts';
import { agentUnit } from './targets.ts';

export interface ContractHost extends AsyncDisposable {
  readonly host: Host;
  /** The same host after the agent was restarted. */
  restartAgent(): Promise<Host>;
  /** Ends the main process of a unit, as a crash does. */
  crash(unit: string): Promise<void>;
  /** URL of content that the host can download. */
  publish(content: Uint8Array): Promise<string>;
  /** A .tar.gz with these files. */
  archive(files: ReadonlyMap<string, string>): Promise<Uint8Array>;
  /** A program that runs until it is stopped. */
  readonly runs: readonly string[];
  /** A program that does not start. */
  readonly fails: readonly string[];
}

const PLAIN = { mode: '0644', owner: 'root:root' };
const ROOT = '/etc/contract';

export function describeHostContract(type: string, create: () => Promise<ContractHost>): void {
  describe(`the host ${type}`, () => {
    let contract: ContractHost;
    let host: Host;

    beforeEach(async () => {
      contract = await create();
      ({ host } = contract);
    });

    afterEach(async () => {
      await contract[Symbol.asyncDispose]();
    });

    async function write(path: string, content: string, attributes = PLAIN): Promise<void> {
      await host.files.write(path, bytes(content), attributes);
    }

    async function text(path: string): Promise<string | undefined> {
      const content = await host.files.read(path);
      return content && new TextDecoder().decode(content);
    }

    function unit(fields: Partial<UnitDefinition> = {}): UnitDefinition {
      return agentUnit('kubenode-contract', { exec: execOf(contract.runs), ...fields });
    }

    function failing(): UnitDefinition {
      return unit({ exec: execOf(contract.fails) });
    }

    async function active(definition = unit()): Promise<string | undefined> {
      return (await host.units.status(definition))?.active;
    }

    describe('files', () => {
      it('has nothing at a path that was never written', async () => {
        expect(await host.files.stat(`${ROOT}/a`)).toBeUndefined();
        expect(await host.files.read(`${ROOT}/a`)).toBeUndefined();
        expect(await host.files.digest(`${ROOT}/a`)).toBeUndefined();
        expect(await host.files.list(ROOT)).toEqual([]);
      });

      it('writes content, mode and owner, and the directories above', async () => {
        await write(`${ROOT}/deep/a`, 'x', { mode: '0640', owner: 'root:daemon' });
        expect(await text(`${ROOT}/deep/a`)).toBe('x');
        expect(await host.files.stat(`${ROOT}/deep/a`)).toMatchObject({
          type: 'File',
          mode: '0640',
          owner: 'root:daemon',
          sizeBytes: 1,
        });
        expect(await host.files.stat(`${ROOT}/deep`)).toMatchObject({ type: 'Directory', mode: '0755' });
      });

      it('replaces content and attributes, and leaves nothing beside the file', async () => {
        await write(`${ROOT}/a`, 'long content', { mode: '0600', owner: 'root:daemon' });
        await write(`${ROOT}/a`, 'b');
        expect(await text(`${ROOT}/a`)).toBe('b');
        expect(await host.files.stat(`${ROOT}/a`)).toMatchObject(PLAIN);
        expect(await host.files.list(ROOT)).toEqual(['a']);
      });

      it('replaces a link by a file, and leaves what it pointed to', async () => {
        await write(`${ROOT}/theirs`, 'theirs');
        await host.files.link(`${ROOT}/a`, `${ROOT}/theirs`);
        await write(`${ROOT}/a`, 'ours');
        expect(await text(`${ROOT}/theirs`)).toBe('theirs');
        expect(await host.files.stat(`${ROOT}/a`)).toMatchObject({ type: 'File' });
      });

      it('changes the revision with content, mode and replacement only', async () => {
        await write(`${ROOT}/a`, 'x');
        const revision = async (): Promise<string | undefined> =>
          (await host.files.stat(`${ROOT}/a`))?.revision;
        const first = await revision();
        expect(await revision()).toBe(first);
        await write(`${ROOT}/a`, 'y');
        const second = await revision();
        expect(second).not.toBe(first);
        await host.files.setAttributes(`${ROOT}/a`, { mode: '0600', owner: 'root:root' });
        expect(await revision()).not.toBe(second);
      });

      it('sets attributes of files and directories, and refuses a missing path', async () => {
        await write(`${ROOT}/d/a`, 'x');
        await host.files.setAttributes(`${ROOT}/d`, { mode: '0700', owner: 'root:daemon' });
        expect(await host.files.stat(`${ROOT}/d`)).toMatchObject({ mode: '0700', owner: 'root:daemon' });
        await expect(host.files.setAttributes(`${ROOT}/none`, PLAIN)).rejects.toMatchObject({
          code: 'NoAccess',
        });
      });

      it('digests a file, also through a link', async () => {
        await write(`${ROOT}/a`, 'x');
        await host.files.link(`${ROOT}/link`, `${ROOT}/a`);
        const expected = createHash('sha256').update('x').digest('hex');
        expect(await host.files.digest(`${ROOT}/a`)).toBe(expected);
        expect(await host.files.digest(`${ROOT}/link`)).toBe(expected);
      });

      it('appends, and creates a private file for it', async () => {
        await host.files.append(`${ROOT}/log`, bytes('a'));
        await host.files.append(`${ROOT}/log`, bytes('b'));
        expect(await text(`${ROOT}/log`)).toBe('ab');
        expect(await host.files.stat(`${ROOT}/log`)).toMatchObject({ mode: '0600' });
      });

      it('links, and points an existing link elsewhere', async () => {
        await write(`${ROOT}/v1/run`, 'one');
        await write(`${ROOT}/v2/run`, 'two');
        await host.files.link(`${ROOT}/current`, `${ROOT}/v1`);
        expect(await text(`${ROOT}/current/run`)).toBe('one');
        await host.files.link(`${ROOT}/current`, `${ROOT}/v2`);
        expect(await text(`${ROOT}/current/run`)).toBe('two');
        expect(await host.files.stat(`${ROOT}/current`)).toMatchObject({
          type: 'Link',
          target: `${ROOT}/v2`,
        });
        expect((await host.files.list(ROOT)).toSorted()).toEqual(['current', 'v1', 'v2']);
      });

      it('reads nothing through a link in a circle or to a missing file', async () => {
        await host.files.link(`${ROOT}/circle`, `${ROOT}/circle`);
        await host.files.link(`${ROOT}/broken`, `${ROOT}/none`);
        expect(await host.files.read(`${ROOT}/circle`)).toBeUndefined();
        expect(await host.files.read(`${ROOT}/broken`)).toBeUndefined();
        expect(await host.files.stat(`${ROOT}/broken`)).toMatchObject({ type: 'Link' });
      });

      it('makes a directory, and leaves one that exists', async () => {
        await host.files.makeDirectory(`${ROOT}/d`, '0750');
        await write(`${ROOT}/d/a`, 'x');
        await host.files.makeDirectory(`${ROOT}/d`);
        expect(await host.files.stat(`${ROOT}/d`)).toMatchObject({ type: 'Directory', mode: '0750' });
        expect(await text(`${ROOT}/d/a`)).toBe('x');
      });

      it('copies content with the given attributes', async () => {
        await write(`${ROOT}/a`, 'x');
        await host.files.copy(`${ROOT}/a`, `${ROOT}/b`, { mode: '0755', owner: 'root:root' });
        expect(await text(`${ROOT}/b`)).toBe('x');
        expect(await host.files.stat(`${ROOT}/b`)).toMatchObject({ mode: '0755' });
        await expect(host.files.copy(`${ROOT}/none`, `${ROOT}/c`, PLAIN)).rejects.toMatchObject({
          code: 'NoAccess',
        });
      });

      it('renames a directory over another one, with everything in it', async () => {
        await write(`${ROOT}/new/a`, 'new');
        await write(`${ROOT}/old/a`, 'old');
        await write(`${ROOT}/old/b`, 'old');
        await host.files.rename(`${ROOT}/new`, `${ROOT}/old`);
        expect(await host.files.list(`${ROOT}/old`)).toEqual(['a']);
        expect(await text(`${ROOT}/old/a`)).toBe('new');
        expect(await host.files.stat(`${ROOT}/new`)).toBeUndefined();
        await expect(host.files.rename(`${ROOT}/none`, `${ROOT}/c`)).rejects.toMatchObject({
          code: 'NoAccess',
        });
      });

      it('removes a file, a directory and a link, and nothing behind the link', async () => {
        await write(`${ROOT}/kept/a`, 'x');
        await host.files.link(`${ROOT}/link`, `${ROOT}/kept`);
        await host.files.remove(`${ROOT}/link`);
        expect(await text(`${ROOT}/kept/a`)).toBe('x');
        await host.files.remove(`${ROOT}/kept`);
        expect(await host.files.list(ROOT)).toEqual([]);
        await host.files.remove(`${ROOT}/kept`);
      });

      it('has free space, also where a path does not exist', async () => {
        expect(await host.files.freeBytes(`${ROOT}/none/none`)).toBeGreaterThan(0);
      });

      it('reports changes below the watched paths, and no others', async () => {
        const changed = new Set<string>();
        await write(`${ROOT}/a`, 'x');
        await using watching = host.files.watch(
          [`${ROOT}/a`, `${ROOT}/later/b`],
          (path) => void changed.add(path),
        );
        expect(watching).toBeDefined();
        await write('/etc/elsewhere/c', 'x');
        await write(`${ROOT}/a`, 'y');
        await eventually(async () => changed.has(`${ROOT}/a`) || undefined, 'no change reported', 5000);
        await write(`${ROOT}/later/b`, 'x');
        await eventually(async () => changed.has(`${ROOT}/later/b`) || undefined, 'no change reported', 5000);
        expect([...changed].filter((path) => !path.startsWith(ROOT))).toEqual([]);
      });

      it('reports a file that is removed and created again', async () => {
        let count = 0;
        await write(`${ROOT}/a`, 'x');
        await using watching = host.files.watch([`${ROOT}/a`], () => {
          count += 1;
        });
        expect(watching).toBeDefined();
        await host.files.remove(`${ROOT}/a`);
        await eventually(async () => count > 0 || undefined, 'no removal reported', 5000);
        const before = count;
        await write(`${ROOT}/a`, 'x');
        await eventually(async () => count > before || undefined, 'no creation reported', 5000);
      });
    });

    describe('downloads and archives', () => {
      it('downloads to a private file, and again over it', async () => {
        const url = await contract.publish(bytes('content'));
        await host.network.download(url, `${ROOT}/cache/a`, LIMITS);
        await host.network.download(url, `${ROOT}/cache/a`, LIMITS);
        expect(await text(`${ROOT}/cache/a`)).toBe('content');
        expect(await host.files.stat(`${ROOT}/cache/a`)).toMatchObject({ mode: '0600' });
      });

      it('AGT-03 refuses content above the limit', async () => {
        const url = await contract.publish(bytes('content'));
        await expect(
          host.network.download(url, `${ROOT}/a`, { ...LIMITS, maxBytes: 3 }),
        ).rejects.toMatchObject({ code: 'TooLarge' });
      });

      it('names a URL that has nothing', async () => {
        const url = await contract.publish(bytes('content'));
        await expect(host.network.download(`${url}-none`, `${ROOT}/a`, LIMITS)).rejects.toMatchObject({
          code: 'Download',
        });
      });

      it('unpacks an archive, and refuses one above the limits', async () => {
        const archive = await contract.archive(
          new Map([
            ['bin/a', 'A'],
            ['b', 'B'],
          ]),
        );
        await host.files.write(`${ROOT}/x.tar.gz`, archive, PLAIN);
        await host.files.unpack(`${ROOT}/x.tar.gz`, `${ROOT}/v1`, { maxBytes: 10_000, maxEntries: 10 });
        expect(await text(`${ROOT}/v1/bin/a`)).toBe('A');
        expect(await text(`${ROOT}/v1/b`)).toBe('B');
        await expect(
          host.files.unpack(`${ROOT}/x.tar.gz`, `${ROOT}/v2`, { maxBytes: 10_000, maxEntries: 1 }),
        ).rejects.toMatchObject({ code: 'TooLarge' });
        await expect(
          host.files.unpack(`${ROOT}/none`, `${ROOT}/v3`, { maxBytes: 1, maxEntries: 1 }),
        ).rejects.toMatchObject({ code: 'NoAccess' });
      });
    });

    describe('units', () => {
      it('has no status for a unit that was never written', async () => {
        expect(await host.units.status(unit())).toBeUndefined();
        await expect(host.units.start('kubenode-contract')).rejects.toMatchObject({ code: 'UnitNotFound' });
        await expect(host.units.setEnabled('kubenode-contract', true)).rejects.toMatchObject({
          code: 'UnitNotFound',
        });
      });

      it('writes a unit without starting or enabling it', async () => {
        await host.units.write(unit());
        expect(await host.units.status(unit())).toMatchObject({
          defined: true,
          enabled: false,
          masked: false,
          active: 'Inactive',
          restarts: 0,
        });
      });

      it('finds another definition', async () => {
        await host.units.write(unit());
        const other = unit({ exec: { argv: [...contract.runs], env: { A: 'b' }, user: 'root' } });
        expect((await host.units.status(other))?.defined).toBe(false);
        await host.units.write(other);
        expect((await host.units.status(other))?.defined).toBe(true);
      });

      it('enables and disables, and each can be repeated', async () => {
        await host.units.write(unit());
        for (const enabled of [true, true, false, false]) {
          await host.units.setEnabled('kubenode-contract', enabled);
          expect((await host.units.status(unit()))?.enabled).toBe(enabled);
        }
      });

      it('starts one process, and a second start changes nothing', async () => {
        await host.units.write(unit());
        await host.units.start('kubenode-contract');
        const first = await host.units.status(unit());
        expect(first).toMatchObject({ active: 'Active', restarts: 0 });
        expect(first?.process?.pid).toBeGreaterThan(0);
        await host.units.start('kubenode-contract');
        expect((await host.units.status(unit()))?.process).toEqual(first?.process);
      });

      it('stops it, and a second stop changes nothing', async () => {
        await host.units.write(unit());
        await host.units.start('kubenode-contract');
        await host.units.stop('kubenode-contract');
        expect(await active()).toBe('Inactive');
        expect((await host.units.status(unit()))?.process).toBeUndefined();
        await host.units.stop('kubenode-contract');
        expect(await active()).toBe('Inactive');
      });

      it('gives a process that was started again another identity', async () => {
        await host.units.write(unit());
        await host.units.start('kubenode-contract');
        const first = (await host.units.status(unit()))?.process;
        await host.units.stop('kubenode-contract');
        await host.units.start('kubenode-contract');
        const second = (await host.units.status(unit()))?.process;
        expect([second?.pid, second?.startId]).not.toEqual([first?.pid, first?.startId]);
      });

      it('fails to start a program that does not exist', async () => {
        await host.units.write(failing());
        await expect(host.units.start('kubenode-contract')).rejects.toMatchObject({ code: 'UnitFailed' });
        expect(await active(failing())).toBe('Failed');
        await host.units.stop('kubenode-contract');
        expect(await active(failing())).toBe('Inactive');
      });

      it('removes a stopped unit, and refuses one that runs', async () => {
        await host.units.write(unit());
        await host.units.start('kubenode-contract');
        await expect(host.units.remove(unit())).rejects.toMatchObject({ code: 'UnitFailed' });
        await host.units.stop('kubenode-contract');
        await host.units.remove(unit());
        expect(await host.units.status(unit())).toBeUndefined();
        await host.units.remove(unit());
      });

      it('reloads without another process', async () => {
        const reloading = unit({ reload: { argv: ['/bin/true'] } });
        await host.units.write(reloading);
        await host.units.start('kubenode-contract');
        const before = (await host.units.status(reloading))?.process;
        await host.units.reload('kubenode-contract');
        expect((await host.units.status(reloading))?.process).toEqual(before);
      });

      it('keeps processes and their identity over a restart of the agent', async () => {
        await host.units.write(unit());
        await host.units.start('kubenode-contract');
        const before = await host.units.status(unit());
        host = await contract.restartAgent();
        expect(await host.units.status(unit())).toEqual(before);
        await host.units.stop('kubenode-contract');
        expect(await active()).toBe('Inactive');
      });

      it('starts a process that crashed again, and counts it', async () => {
        const restarting = unit({ restart: { policy: 'Always', delaySeconds: 0, maxPerMinute: 10 } });
        await host.units.write(restarting);
        await host.units.start('kubenode-contract');
        const before = (await host.units.status(restarting))?.process;
        await contract.crash('kubenode-contract');
        const after = await eventually(
          async () => {
            const status = await host.units.status(restarting);
            return status?.active === 'Active' && status.process?.pid !== before?.pid ? status : undefined;
          },
          'not started again',
          10_000,
        );
        expect(after.restarts).toBe(1);
      });

      it('starts what is enabled after a reboot, with another boot id', async () => {
        const before = await host.node.bootId();
        await host.units.write(unit());
        await host.units.setEnabled('kubenode-contract', true);
        await host.units.write(agentUnit('kubenode-other', { exec: unit().exec as never }));
        await host.units.start('kubenode-other');
        await host.node.reboot();
        host = await contract.restartAgent();
        expect(await host.node.bootId()).not.toBe(before);
        expect(await active()).toBe('Active');
        expect((await host.units.status(agentUnit('kubenode-other')))?.active).toBe('Inactive');
      });
    });

    describe('node', () => {
      it('has an identity and facts that do not change', async () => {
        expect(await host.node.machineId()).toBe(await host.node.machineId());
        expect(await host.node.bootId()).toBe(await host.node.bootId());
        expect(await host.node.facts()).toMatchObject({ os: 'linux' });
      });

      it('assigns the same port to the same name', async () => {
        const ports = [
          { name: 'web', port: 8080 },
          { name: 'metrics', port: 9090 },
        ];
        const first = await host.network.assignPorts('proxy', ports);
        expect(new Set(first.values()).size).toBe(2);
        host = await contract.restartAgent();
        expect(await host.network.assignPorts('proxy', ports)).toEqual(first);
      });
    });
  });
}

function execOf(argv: readonly string[]): NonNullable<UnitDefinition['exec']> {
  return { argv, env: {}, user: 'root' };
}

const LIMITS = { maxBytes: 1_000_000, timeoutMs: 20_000 };

export function bytes(content: string): Uint8Array {
  return new TextEncoder().encode(content);
}
