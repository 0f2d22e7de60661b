/** Files of a host. */
import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { eventually } from '../../eventually.ts';
import { bytes, type ContractBed, PLAIN, ROOT } from './bed.ts';

export function describeFiles(bed: ContractBed): void {
  describe('files', () => {
    it('has nothing at a path that was never written', async () => {
      expect(await bed.host.files.stat(`${ROOT}/a`)).toBeUndefined();
      expect(await bed.host.files.read(`${ROOT}/a`)).toBeUndefined();
      expect(await bed.host.files.digest(`${ROOT}/a`)).toBeUndefined();
      expect(await bed.host.files.list(ROOT)).toEqual([]);
    });

    it('writes content, mode and owner, and the directories above', async () => {
      await bed.write(`${ROOT}/deep/a`, 'x', { mode: '0640', owner: 'root:daemon' });
      expect(await bed.text(`${ROOT}/deep/a`)).toBe('x');
      expect(await bed.host.files.stat(`${ROOT}/deep/a`)).toMatchObject({
        type: 'File',
        mode: '0640',
        owner: 'root:daemon',
        sizeBytes: 1,
      });
      expect(await bed.host.files.stat(`${ROOT}/deep`)).toMatchObject({ type: 'Directory', mode: '0755' });
    });

    it('replaces content and attributes, and leaves nothing beside the file', async () => {
      await bed.write(`${ROOT}/a`, 'long content', { mode: '0600', owner: 'root:daemon' });
      await bed.write(`${ROOT}/a`, 'b');
      expect(await bed.text(`${ROOT}/a`)).toBe('b');
      expect(await bed.host.files.stat(`${ROOT}/a`)).toMatchObject(PLAIN);
      expect(await bed.host.files.list(ROOT)).toEqual(['a']);
    });

    it('replaces a link by a file, and leaves what it pointed to', async () => {
      await bed.write(`${ROOT}/theirs`, 'theirs');
      await bed.host.files.link(`${ROOT}/a`, `${ROOT}/theirs`);
      await bed.write(`${ROOT}/a`, 'ours');
      expect(await bed.text(`${ROOT}/theirs`)).toBe('theirs');
      expect(await bed.host.files.stat(`${ROOT}/a`)).toMatchObject({ type: 'File' });
    });

    it('changes the revision with content, mode and replacement only', async () => {
      await bed.write(`${ROOT}/a`, 'x');
      const revision = async (): Promise<string | undefined> =>
        (await bed.host.files.stat(`${ROOT}/a`))?.revision;
      const first = await revision();
      expect(await revision()).toBe(first);
      await bed.write(`${ROOT}/a`, 'y');
      const second = await revision();
      expect(second).not.toBe(first);
      await bed.host.files.setAttributes(`${ROOT}/a`, { mode: '0600', owner: 'root:root' });
      expect(await revision()).not.toBe(second);
    });

    it('sets attributes of files and directories, and refuses a missing path', async () => {
      await bed.write(`${ROOT}/d/a`, 'x');
      await bed.host.files.setAttributes(`${ROOT}/d`, { mode: '0700', owner: 'root:daemon' });
      expect(await bed.host.files.stat(`${ROOT}/d`)).toMatchObject({ mode: '0700', owner: 'root:daemon' });
      await expect(bed.host.files.setAttributes(`${ROOT}/none`, PLAIN)).rejects.toMatchObject({
        code: 'NoAccess',
      });
    });

    it('digests a file, also through a link', async () => {
      await bed.write(`${ROOT}/a`, 'x');
      await bed.host.files.link(`${ROOT}/link`, `${ROOT}/a`);
      const expected = createHash('sha256').update('x').digest('hex');
      expect(await bed.host.files.digest(`${ROOT}/a`)).toBe(expected);
      expect(await bed.host.files.digest(`${ROOT}/link`)).toBe(expected);
    });

    it('appends, and creates a private file for it', async () => {
      await bed.host.files.append(`${ROOT}/log`, bytes('a'));
      await bed.host.files.append(`${ROOT}/log`, bytes('b'));
      expect(await bed.text(`${ROOT}/log`)).toBe('ab');
      expect(await bed.host.files.stat(`${ROOT}/log`)).toMatchObject({ mode: '0600' });
    });

    it('links, and points an existing link elsewhere', async () => {
      await bed.write(`${ROOT}/v1/run`, 'one');
      await bed.write(`${ROOT}/v2/run`, 'two');
      await bed.host.files.link(`${ROOT}/current`, `${ROOT}/v1`);
      expect(await bed.text(`${ROOT}/current/run`)).toBe('one');
      await bed.host.files.link(`${ROOT}/current`, `${ROOT}/v2`);
      expect(await bed.text(`${ROOT}/current/run`)).toBe('two');
      expect(await bed.host.files.stat(`${ROOT}/current`)).toMatchObject({
        type: 'Link',
        target: `${ROOT}/v2`,
      });
      expect((await bed.host.files.list(ROOT)).toSorted()).toEqual(['current', 'v1', 'v2']);
    });

    it('reads nothing through a link in a circle or to a missing file', async () => {
      await bed.host.files.link(`${ROOT}/circle`, `${ROOT}/circle`);
      await bed.host.files.link(`${ROOT}/broken`, `${ROOT}/none`);
      expect(await bed.host.files.read(`${ROOT}/circle`)).toBeUndefined();
      expect(await bed.host.files.read(`${ROOT}/broken`)).toBeUndefined();
      expect(await bed.host.files.stat(`${ROOT}/broken`)).toMatchObject({ type: 'Link' });
    });

    it('makes a directory, and leaves one that exists', async () => {
      await bed.host.files.makeDirectory(`${ROOT}/d`, '0750');
      await bed.write(`${ROOT}/d/a`, 'x');
      await bed.host.files.makeDirectory(`${ROOT}/d`);
      expect(await bed.host.files.stat(`${ROOT}/d`)).toMatchObject({ type: 'Directory', mode: '0750' });
      expect(await bed.text(`${ROOT}/d/a`)).toBe('x');
    });

    it('copies content with the given attributes', async () => {
      await bed.write(`${ROOT}/a`, 'x');
      await bed.host.files.copy(`${ROOT}/a`, `${ROOT}/b`, { mode: '0755', owner: 'root:root' });
      expect(await bed.text(`${ROOT}/b`)).toBe('x');
      expect(await bed.host.files.stat(`${ROOT}/b`)).toMatchObject({ mode: '0755' });
      await expect(bed.host.files.copy(`${ROOT}/none`, `${ROOT}/c`, PLAIN)).rejects.toMatchObject({
        code: 'NoAccess',
      });
    });

    it('renames a directory over another one, with everything in it', async () => {
      await bed.write(`${ROOT}/new/a`, 'new');
      await bed.write(`${ROOT}/old/a`, 'old');
      await bed.write(`${ROOT}/old/b`, 'old');
      await bed.host.files.rename(`${ROOT}/new`, `${ROOT}/old`);
      expect(await bed.host.files.list(`${ROOT}/old`)).toEqual(['a']);
      expect(await bed.text(`${ROOT}/old/a`)).toBe('new');
      expect(await bed.host.files.stat(`${ROOT}/new`)).toBeUndefined();
      await expect(bed.host.files.rename(`${ROOT}/none`, `${ROOT}/c`)).rejects.toMatchObject({
        code: 'NoAccess',
      });
    });

    it('removes a file, a directory and a link, and nothing behind the link', async () => {
      await bed.write(`${ROOT}/kept/a`, 'x');
      await bed.host.files.link(`${ROOT}/link`, `${ROOT}/kept`);
      await bed.host.files.remove(`${ROOT}/link`);
      expect(await bed.text(`${ROOT}/kept/a`)).toBe('x');
      await bed.host.files.remove(`${ROOT}/kept`);
      expect(await bed.host.files.list(ROOT)).toEqual([]);
      await bed.host.files.remove(`${ROOT}/kept`);
    });

    it('has free space, also where a path does not exist', async () => {
      expect((await bed.host.files.usage(`${ROOT}/none/none`)).freeBytes).toBeGreaterThan(0);
    });

    it('knows how much of its file system is used', async () => {
      await bed.write(`${ROOT}/a`, 'x');
      const found = await bed.host.files.usage(`${ROOT}/a`);
      expect(found.usedBytes).toBeGreaterThan(0);
      expect(Object.values(found).every((value) => value >= 0)).toBe(true);
    });

    it('reports changes below the watched paths, and no others', async () => {
      const changed = new Set<string>();
      await bed.write(`${ROOT}/a`, 'x');
      await using watching = bed.host.files.watch(
        [`${ROOT}/a`, `${ROOT}/later/b`],
        (path) => void changed.add(path),
      );
      expect(watching).toBeDefined();
      await bed.write('/etc/elsewhere/c', 'x');
      await bed.write(`${ROOT}/a`, 'y');
      await eventually(async () => changed.has(`${ROOT}/a`) || undefined, 'no change reported', 5000);
      await bed.write(`${ROOT}/later/b`, 'x');
      await eventually(async () => changed.has(`${ROOT}/later/b`) || undefined, 'no change reported', 5000);
      expect([...changed].filter((path) => !path.startsWith(ROOT))).toEqual([]);
    });

    it('reports a file that is removed and created again', async () => {
      let count = 0;
      await bed.write(`${ROOT}/a`, 'x');
      await using watching = bed.host.files.watch([`${ROOT}/a`], () => {
        count += 1;
      });
      expect(watching).toBeDefined();
      await bed.host.files.remove(`${ROOT}/a`);
      await eventually(async () => count > 0 || undefined, 'no removal reported', 5000);
      const before = count;
      await bed.write(`${ROOT}/a`, 'x');
      await eventually(async () => count > before || undefined, 'no creation reported', 5000);
    });

    it('keeps an empty file, and bytes that are not text', async () => {
      const content = Uint8Array.from([0, 255, 10, 128, 0]);
      await bed.host.files.write(`${ROOT}/bytes`, content, PLAIN);
      await bed.write(`${ROOT}/empty`, '');
      expect([...((await bed.host.files.read(`${ROOT}/bytes`)) ?? [])]).toEqual([...content]);
      expect(await bed.host.files.read(`${ROOT}/empty`)).toHaveLength(0);
      expect(await bed.host.files.stat(`${ROOT}/empty`)).toMatchObject({ type: 'File', sizeBytes: 0 });
    });

    it('has no content of a directory', async () => {
      await bed.host.files.makeDirectory(`${ROOT}/d`);
      expect(await bed.host.files.read(`${ROOT}/d`)).toBeUndefined();
      expect(await bed.host.files.digest(`${ROOT}/d`)).toBeUndefined();
    });

    it('lists the names of a directory in order, without what is below them', async () => {
      for (const name of ['b', 'a/deep', 'c']) await bed.write(`${ROOT}/${name}`, 'x');
      expect(await bed.host.files.list(ROOT)).toEqual(['a', 'b', 'c']);
    });

    it('keeps mode and owner of a file to which it appends', async () => {
      await bed.write(`${ROOT}/log`, 'a', { mode: '0640', owner: 'root:daemon' });
      await bed.host.files.append(`${ROOT}/log`, bytes('b'));
      expect(await bed.text(`${ROOT}/log`)).toBe('ab');
      expect(await bed.host.files.stat(`${ROOT}/log`)).toMatchObject({ mode: '0640', owner: 'root:daemon' });
    });

    it('renames a file over another one, and into a directory that does not exist', async () => {
      await bed.write(`${ROOT}/a`, 'new');
      await bed.write(`${ROOT}/b`, 'old');
      await bed.host.files.rename(`${ROOT}/a`, `${ROOT}/b`);
      expect(await bed.text(`${ROOT}/b`)).toBe('new');
      await bed.host.files.rename(`${ROOT}/b`, `${ROOT}/later/c`);
      expect(await bed.text(`${ROOT}/later/c`)).toBe('new');
      expect(await bed.host.files.list(ROOT)).toEqual(['later']);
    });

    it('renames over a link, and leaves what it pointed to', async () => {
      await bed.write(`${ROOT}/theirs`, 'theirs');
      await bed.host.files.link(`${ROOT}/link`, `${ROOT}/theirs`);
      await bed.write(`${ROOT}/ours`, 'ours');
      await bed.host.files.rename(`${ROOT}/ours`, `${ROOT}/link`);
      expect(await bed.text(`${ROOT}/theirs`)).toBe('theirs');
      expect(await bed.host.files.stat(`${ROOT}/link`)).toMatchObject({ type: 'File' });
    });

    it('renames a link as it is', async () => {
      await bed.write(`${ROOT}/a`, 'x');
      await bed.host.files.link(`${ROOT}/link`, `${ROOT}/a`);
      await bed.host.files.rename(`${ROOT}/link`, `${ROOT}/moved`);
      expect(await bed.host.files.stat(`${ROOT}/moved`)).toMatchObject({ type: 'Link', target: `${ROOT}/a` });
      expect(await bed.text(`${ROOT}/a`)).toBe('x');
    });

    it('replaces a file by a link', async () => {
      await bed.write(`${ROOT}/a`, 'a');
      await bed.write(`${ROOT}/b`, 'b');
      await bed.host.files.link(`${ROOT}/a`, `${ROOT}/b`);
      expect(await bed.text(`${ROOT}/a`)).toBe('b');
      expect(await bed.host.files.list(ROOT)).toEqual(['a', 'b']);
    });

    it('copies over a link, and leaves what it pointed to', async () => {
      await bed.write(`${ROOT}/theirs`, 'theirs');
      await bed.host.files.link(`${ROOT}/link`, `${ROOT}/theirs`);
      await bed.write(`${ROOT}/ours`, 'ours');
      await bed.host.files.copy(`${ROOT}/ours`, `${ROOT}/link`, PLAIN);
      expect(await bed.text(`${ROOT}/theirs`)).toBe('theirs');
      expect(await bed.text(`${ROOT}/link`)).toBe('ours');
    });

    it('makes every directory above, with a mode for the last one only', async () => {
      await bed.host.files.makeDirectory(`${ROOT}/a/b/c`, '0700');
      expect(await bed.host.files.stat(`${ROOT}/a/b`)).toMatchObject({ type: 'Directory', mode: '0755' });
      expect(await bed.host.files.stat(`${ROOT}/a/b/c`)).toMatchObject({ mode: '0700' });
    });

    it('removes nothing where nothing is, also below a missing directory', async () => {
      await bed.host.files.remove(`${ROOT}/none`);
      await bed.host.files.remove(`${ROOT}/none/none`);
      expect(await bed.host.files.stat(ROOT)).toBeUndefined();
    });

    it('reports a change in a watched directory, and of a mode', async () => {
      const changes: string[] = [];
      await bed.write(`${ROOT}/d/a`, 'x');
      await using watching = bed.host.files.watch([`${ROOT}/d`], (path) => void changes.push(path));
      expect(watching).toBeDefined();
      await bed.write(`${ROOT}/d/b`, 'x');
      await eventually(async () => changes.length > 0 || undefined, 'no change reported', 5000);
      const before = changes.length;
      await bed.host.files.setAttributes(`${ROOT}/d/a`, { mode: '0600', owner: 'root:root' });
      await eventually(async () => changes.length > before || undefined, 'no change of mode reported', 5000);
    });

    it('reports nothing after the watch was ended', async () => {
      const [ended, going] = [new Set<string>(), new Set<string>()];
      const watching = bed.host.files.watch([ROOT], (path) => void ended.add(path));
      await watching[Symbol.asyncDispose]();
      await using other = bed.host.files.watch([ROOT], (path) => void going.add(path));
      expect(other).toBeDefined();
      await bed.write(`${ROOT}/a`, 'x');
      await eventually(async () => going.size > 0 || undefined, 'no change reported', 5000);
      expect(ended.size).toBe(0);
    });
  });
}
