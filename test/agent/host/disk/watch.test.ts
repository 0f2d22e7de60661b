import { spawnSync } from 'node:child_process';
import { EventEmitter } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { type WatchDirectory, watchPaths } from '../../../../src/agent/host/disk/watch.ts';
import { tempFolder } from '../../../support/temp.ts';

const INSTANCES = 'inotify instances of this user are used up: raise fs.inotify.max_user_instances';
const WATCHES = 'inotify watches of this user are used up: raise fs.inotify.max_user_watches';

let folder: string;
beforeEach(() => {
  folder = tempFolder('watched');
  mkdirSync(join(folder, 'a'));
});

describe('a watch of paths', () => {
  it.each([
    ['EMFILE', INSTANCES],
    ['ENOSPC', WATCHES],
    // The directory was removed meanwhile: nothing is used up.
    ['ENOENT', undefined],
  ])('states what is used up when it cannot be made: %s', async (code, expected) => {
    await using watching = watchPaths([join(folder, 'a')], nothing, failing(code));
    expect(watching.retry()).toBe(expected);
    expect(watching.retry()).toBe(expected);
  });

  it('is made again as soon as that is possible, and then reports changes', async () => {
    let code: string | undefined = 'EMFILE';
    const opened: string[] = [];
    const emitters = new Map<string, (event: string, name: string) => void>();
    const changes: string[] = [];
    await using watching = watchPaths(
      [join(folder, 'a')],
      (path) => void changes.push(path),
      (directory, changed) => {
        if (code !== undefined) throw Object.assign(new Error('cannot watch'), { code });
        opened.push(directory);
        emitters.set(directory, changed);
        return watcher();
      },
    );
    expect(watching.retry()).toBe(INSTANCES);
    code = undefined;
    expect(watching.retry()).toBeUndefined();
    expect(opened).toEqual([folder, join(folder, 'a')]);
    emitters.get(join(folder, 'a'))?.('change', 'file');
    expect(changes).toEqual([join(folder, 'a')]);
    // What is watched is not opened again.
    expect(watching.retry()).toBeUndefined();
    expect(opened).toHaveLength(2);
  });

  it('states what is used up while only a part of it can be made', async () => {
    await using watching = watchPaths([join(folder, 'a')], nothing, (directory) => {
      if (directory === folder) return watcher();
      throw Object.assign(new Error('cannot watch'), { code: 'ENOSPC' });
    });
    expect(watching.retry()).toBe(WATCHES);
  });
});

/** As root of a user namespace of its own: the limits of this machine stay as they are. */
const LIMITED = ['--user', '--map-root-user', 'sh', '-c'];
const LIMIT = '/proc/sys/user/max_inotify_instances';
const canLimit = spawnSync('unshare', [...LIMITED, `echo 0 > ${LIMIT}`]).status === 0;
const reason = canLimit ? undefined : 'this machine permits no user namespaces';
if (reason) process.stderr.write(`skipped: ${reason}\n`);

describe.skipIf(reason)(`inotify of this machine${reason ? ` (${reason})` : ''}`, () => {
  it('is used up, which the files of a host report, and is used again when there is more', async () => {
    const script = join(folder, 'script.ts');
    const source = join(import.meta.dirname, '../../../../src/agent/host/disk');
    writeFileSync(
      script,
      `import { writeFileSync } from 'node:fs';
import { DiskFiles } from '${source}/files.ts';
import { createRecordedOwners } from '${source}/owners.ts';
import { createHostRoot } from '${source}/root.ts';
const files = new DiskFiles(createHostRoot('${folder}'), createRecordedOwners('${folder}/owners'));
const { promise, resolve } = Promise.withResolvers();
const watching = files.watch(['/a'], resolve);
const reasons = [files.retryWatches()];
writeFileSync('${LIMIT}', '8');
reasons.push(files.retryWatches());
writeFileSync('${folder}/a/file', 'changed');
const alive = setInterval(() => undefined, 1000);
reasons.push(await promise);
clearInterval(alive);
await watching[Symbol.asyncDispose]();
console.log(JSON.stringify(reasons));
`,
    );
    const command = `echo 0 > ${LIMIT} && exec "$0" "$1"`;
    const ran = spawnSync('unshare', [...LIMITED, command, process.execPath, script], {
      encoding: 'utf8',
      timeout: 600_000,
    });
    expect(ran.stderr).toBe('');
    expect(JSON.parse(ran.stdout)).toEqual([INSTANCES, null, '/a']);
  });
});

function failing(code: string): WatchDirectory {
  return () => {
    throw Object.assign(new Error('cannot watch'), { code });
  };
}

function watcher(): ReturnType<WatchDirectory> {
  return Object.assign(new EventEmitter(), { close: nothing }) as unknown as ReturnType<WatchDirectory>;
}

function nothing(): void {
  // No change is of interest.
}
