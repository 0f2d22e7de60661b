import { execFileSync, spawn } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { createProgramLookup } from '../../../src/local/binaries/binaries.ts';
import { type ResolveOptions, resolveBinaries } from '../../../src/local/binaries/resolve.ts';
import { CONTROL_PLANE_VERSION } from '../../../src/local/binaries/versions.ts';
import { createSystemClock } from '../../../src/os/system-clock.ts';
import { noProcessWith, processesWith, processWith } from '../../support/processes.ts';
import {
  ETCD_ARCHIVE,
  etcdPath,
  kubePath,
  programText,
  type ReleaseSite,
  releaseSite,
  sum,
  tarGz,
} from '../../support/release-site.ts';
import { tempFolder } from '../../support/temp.ts';

const LINUX = { platform: 'linux', arch: 'x64' };
const API_SERVER = kubePath('kube-apiserver');
const CONTENT = programText('kube-apiserver');
const clock = createSystemClock();

describe('resolveBinaries', () => {
  let site: ReleaseSite;
  let home: string;
  let steps: string[];

  beforeEach(async () => {
    site = await releaseSite();
    home = tempFolder('home');
    steps = [];
  });
  afterEach(async () => {
    await site.close();
  });

  describe('with a folder of the user', () => {
    it.each(['--kube-assets', 'KUBEBUILDER_ASSETS'])(
      'uses the folder of %s without a download',
      async (option) => {
        const folder = assets('etcd', 'kube-apiserver');
        const { env, assets: named } =
          option === '--kube-assets'
            ? { env: {}, assets: folder }
            : { env: { KUBEBUILDER_ASSETS: folder }, assets: undefined };
        const binaries = await resolve({ env: { ...environment(), ...env }, assets: named });
        expect(binaries.folder).toBe(folder);
        expect(site.asked).toEqual([]);
      },
    );

    it('prefers the flag', async () => {
      const folder = assets('etcd', 'kube-apiserver');
      const env = { ...environment(), KUBEBUILDER_ASSETS: tempFolder('other') };
      expect((await resolve({ env, assets: folder })).folder).toBe(folder);
    });

    it('reports every program missing there', async () => {
      const folder = assets('etcd');
      const promise = resolve({ assets: folder, programs: ['etcd', 'kube-apiserver', 'kubectl'] });
      await expect(promise).rejects.toMatchObject({
        code: 'NoBinaries',
        message: 'programs missing in the folder of --kube-assets: kube-apiserver, kubectl',
        where: folder,
      });
    });
  });

  describe('by download', () => {
    it('downloads executable programs once and then uses the cache', async () => {
      const binaries = await resolve();
      const run = createProgramLookup(binaries);
      expect(execFileSync(run('etcd'), { encoding: 'utf8' })).toBe('etcd\n');
      expect(execFileSync(run('kube-apiserver'), { encoding: 'utf8' })).toBe('kube-apiserver\n');
      expect(steps.some((step) => /^downloading kube-apiserver: .*\(100 %\)$/.test(step))).toBe(true);
      site.asked.length = 0;
      expect((await resolve()).folder).toBe(binaries.folder);
      expect(site.asked).toEqual([]);
      expect(leftovers()).toEqual([]);
    });

    it('adds missing programs to the cache and keeps the others', async () => {
      await resolve();
      site.asked.length = 0;
      const { folder } = await resolve({ programs: ['etcd', 'kube-apiserver', 'kubectl'] });
      expect(site.asked).toEqual([`${kubePath('kubectl')}.sha256`, kubePath('kubectl')]);
      expect(readdirSync(folder).toSorted()).toEqual(['etcd', 'kube-apiserver', 'kubectl', 'manifest.json']);
    });

    it('resumes an interrupted download repeatedly', async () => {
      site.fail(
        API_SERVER,
        { kind: 'cut', after: 1000 },
        { kind: 'cut', after: 700 },
        { kind: 'status', status: 503 },
      );
      expect(readFileSync(createProgramLookup(await resolve())('kube-apiserver'))).toEqual(CONTENT);
      const ranges = site.asked.filter((path) => path.startsWith(`${API_SERVER} `));
      expect(ranges).toEqual([
        `${API_SERVER} bytes=1000-`,
        `${API_SERVER} bytes=1700-`,
        `${API_SERVER} bytes=1700-`,
      ]);
    });

    it('resumes the interrupted download of another process', async () => {
      site.fail(
        API_SERVER,
        { kind: 'cut', after: 1000 },
        ...times(4, { kind: 'status', status: 500 } as const),
      );
      await expect(resolve()).rejects.toMatchObject({ code: 'NoBinaries' });
      site.asked.length = 0;
      expect(readFileSync(createProgramLookup(await resolve())('kube-apiserver'))).toEqual(CONTENT);
      expect(site.asked).toContain(`${API_SERVER} bytes=1000-`);
    });

    it('restarts the download if the server does not support ranges', async () => {
      site.fail(API_SERVER, { kind: 'cut', after: 1000 }, { kind: 'whole' });
      expect(readFileSync(createProgramLookup(await resolve())('kube-apiserver'))).toEqual(CONTENT);
      const asked = site.asked.filter((path) => path.split(' ')[0] === API_SERVER);
      expect(asked).toEqual([API_SERVER, `${API_SERVER} bytes=1000-`]);
    });

    it('retries a download that stalls', async () => {
      site.fail(API_SERVER, { kind: 'silence', after: 100 });
      expect(readFileSync(createProgramLookup(await resolve({ silenceMs: 200 }))('kube-apiserver'))).toEqual(
        CONTENT,
      );
      expect(steps.some((step) => step.includes('no data for'))).toBe(true);
    });

    it('uses a complete partial file without a download', async () => {
      const downloads = join(home, '.cache/kubenode/downloads');
      mkdirSync(downloads, { recursive: true });
      writeFileSync(join(downloads, `kube-apiserver-${sum(CONTENT)}.part`), CONTENT);
      expect(readFileSync(createProgramLookup(await resolve())('kube-apiserver'))).toEqual(CONTENT);
      expect(site.asked).not.toContain(API_SERVER);
    });

    it('discards a wrong partial file and downloads again from the start', async () => {
      const downloads = join(home, '.cache/kubenode/downloads');
      mkdirSync(downloads, { recursive: true });
      writeFileSync(join(downloads, `kube-apiserver-${sum(CONTENT)}.part`), 'something else');
      expect(readFileSync(createProgramLookup(await resolve())('kube-apiserver'))).toEqual(CONTENT);
    });

    it('fails on a wrong checksum without a build and without a cache entry', async () => {
      site.files.set(API_SERVER, Buffer.concat([CONTENT, Buffer.from('more')]));
      const promise = resolve({ env: { ...environment(), PATH: goFolder('exit 0') } });
      await expect(promise).rejects.toMatchObject({ code: 'Checksum', where: `${site.url}${API_SERVER}` });
      expect(leftovers()).toEqual([]);
      expect(cached()).toEqual([]);
    });

    it.each([
      ['is missing (404)', () => site.files.delete(API_SERVER), '404'],
      ['has no checksum (404)', () => site.files.delete(`${API_SERVER}.sha256`), '404'],
      [
        'has a login page for a checksum',
        () => site.files.set(`${API_SERVER}.sha256`, Buffer.from('<html>')),
        'no checksum found',
      ],
      [
        'is not among the checksums',
        () => site.files.set(etcdPath('SHA256SUMS'), Buffer.from('')),
        'no checksum found',
      ],
      ['is packed without etcd', () => replaceArchive([]), 'does not contain the file etcd'],
    ])('fails with hints for alternatives if a program %s', async (_, change, because) => {
      change();
      await expect(resolve()).rejects.toMatchObject({
        code: 'NoBinaries',
        message: expect.stringContaining(because) as string,
        hint: expect.stringMatching(/install Go.*KUBEBUILDER_ASSETS/s) as string,
      });
      // A permanent answer is not requested again.
      expect(new Set(site.asked).size).toBe(site.asked.length);
      expect(cached()).toEqual([]);
    });

    it('extracts only the regular file etcd from the archive', async () => {
      replaceArchive([
        { path: '../../etcd', type: '2', content: Buffer.alloc(0) },
        { path: 'x/etcd', type: '5', content: Buffer.alloc(0) },
        { path: 'x/etcd', type: '0', content: programText('etcd') },
      ]);
      expect(readFileSync(createProgramLookup(await resolve())('etcd'))).toEqual(programText('etcd'));
    });

    it('fails if the disk is full and frees the space', async () => {
      if (!existsSync('/dev/full')) return;
      const downloads = join(home, '.cache/kubenode/downloads');
      mkdirSync(downloads, { recursive: true });
      execFileSync('ln', ['-s', '/dev/full', join(downloads, `kube-apiserver-${sum(CONTENT)}.part`)]);
      await expect(resolve()).rejects.toMatchObject({
        code: 'DiskFull',
        hint: expect.stringContaining('XDG_CACHE_HOME') as string,
      });
      expect(leftovers()).toEqual([]);
      expect(cached()).toEqual([]);
    });

    it('stops when it is aborted', async () => {
      const abort = new AbortController();
      site.fail(API_SERVER, { kind: 'silence', after: 100 });
      const promise = resolve({
        signal: abort.signal,
        onStep: (step) => step.includes('kube-apiserver:') && abort.abort(new Error('enough')),
      });
      await expect(promise).rejects.toThrow('enough');
      expect(cached()).toEqual([]);
    });

    it('happens once for two concurrent calls', async () => {
      const [first, second] = await Promise.all([resolve(), resolve()]);
      expect(first.folder).toBe(second.folder);
      expect(site.asked.filter((path) => path === API_SERVER)).toHaveLength(1);
    });
  });

  describe('from the cache', () => {
    it.each([
      ['changed', (path: string) => writeFileSync(path, programText('kube-apiservez'))],
      ['cut short', (path: string) => writeFileSync(path, 'x')],
      ['lost', (path: string) => rmSync(path)],
    ])('downloads a program again that was %s', async (_, spoil) => {
      const { folder } = await resolve();
      spoil(join(folder, 'kube-apiserver'));
      expect(readFileSync(createProgramLookup(await resolve())('kube-apiserver'))).toEqual(CONTENT);
    });

    it('uses a copied file if its checksum is right', async () => {
      const { folder } = await resolve();
      utimesSync(join(folder, 'kube-apiserver'), 0, 0);
      site.asked.length = 0;
      expect((await resolve()).folder).toBe(folder);
      expect(site.asked).toEqual([]);
    });

    it('removes what a writer left that was killed, and nothing else', async () => {
      const { folder } = await resolve();
      for (const path of [`${folder}.0123456789ab.tmp`, `${folder}-other.0123456789ab.tmp`]) {
        mkdirSync(path);
        writeFileSync(join(path, 'kube'), 'half');
      }
      rmSync(join(folder, 'manifest.json'));
      await resolve();
      expect(leftovers()).toEqual([expect.stringMatching(/-other\.0123456789ab\.tmp/) as string]);
    });

    it('ignores a folder without a manifest, whose writer was killed', async () => {
      const { folder } = await resolve();
      rmSync(join(folder, 'manifest.json'));
      site.asked.length = 0;
      await resolve();
      expect(site.asked).toContain(API_SERVER);
    });
  });

  describe('by go build', () => {
    // A fake go: the real one takes minutes and runs in the cluster tests.
    const BUILDS = `case "$1" in
      version) echo go;;
      list) echo "go: downloading k8s.io/api v0" >&2; printf 'a\\nb\\nc\\n';;
      build) test "$GOFLAGS" = "-mod=readonly -modcacherw" || exit 3; test "$CGO_ENABLED" = 0 || exit 4; test -f go.sum || exit 5
        mkdir -p "$GOCACHE" "$GOMODCACHE"
        printf 'a\\nb\\n' >&2
        while [ "$1" != -o ]; do shift; done
        printf '#!/bin/sh\\necho Kubernetes ${CONTROL_PLANE_VERSION}\\n' > "$2"; chmod +x "$2";;
      esac`;

    beforeEach(() => {
      site.files.clear();
    });

    it('is used without a release: one executable with six links', async () => {
      const source = sourceFolder();
      const before = readdirSync(source).map((name) => statSync(join(source, name)).mtimeMs);
      const env = { ...environment(), PATH: goFolder(BUILDS), GOFLAGS: '-mod=vendor', CGO_ENABLED: '1' };
      const { folder } = await resolve({ env, source });
      expect(readdirSync(folder).toSorted()).toEqual([
        'etcd',
        'kube',
        'kube-apiserver',
        'kube-controller-manager',
        'kube-scheduler',
        'kubectl',
        'kubelet',
        'manifest.json',
      ]);
      expect(readdirSync(source).map((name) => statSync(join(source, name)).mtimeMs)).toEqual(before);
      expect(steps.some((step) => step.endsWith(': 1 so far'))).toBe(true);
      expect(steps.some((step) => step.includes('of at most 3 packages)'))).toBe(true);
      expect(leftovers()).toEqual([]);
      expect(namesIn('go')).toEqual([]);
      // A changed go.mod causes another build; this one is in the cache.
      expect((await resolve({ env: { ...env, PATH: goFolder('exit 1') }, source })).folder).toBe(folder);
    });

    it.each([
      [
        'fails',
        BUILDS.replace('build) ', 'build) echo no space left >&2; exit 1;'),
        /go exited with code 1\n {2}\| no space left/,
      ],
      [
        'makes another version',
        BUILDS.replace(CONTROL_PLANE_VERSION, 'v1.0.0'),
        /expected Kubernetes v1.*, got Kubernetes v1\.0\.0/,
      ],
    ])('leaves no files behind if it %s', async (_, go, message) => {
      const promise = resolve({ env: { ...environment(), PATH: goFolder(go) }, source: sourceFolder() });
      await expect(promise).rejects.toMatchObject({
        code: 'Build',
        message: expect.stringMatching(message) as string,
      });
      expect(cached()).toEqual([]);
      expect(leftovers()).toEqual([]);
    });

    it('FST-10 ends with its command, also when that is killed', async () => {
      const [mark, sources] = [tempFolder('build'), new URL('../../../src/', import.meta.url).href];
      const script = `import { resolveBinaries } from '${sources}local/binaries/resolve.ts';
        import { createSystemClock } from '${sources}os/system-clock.ts';
        await resolveBinaries({ env: process.env, programs: ['etcd'], clock: createSystemClock(), onStep: () => undefined, pauseMs: 1 });`;
      const go = goFolder(`case "$1" in version) echo go;; *) exec sleep 300;; esac`);
      const child = spawn(process.execPath, ['--input-type=module', '-e', script], {
        env: { ...process.env, ...environment(), PATH: `${go}:${process.env['PATH']}`, MARK: mark },
        stdio: 'ignore',
      });
      onTestFinished(() => void child.kill('SIGKILL'));
      await processWith(mark, 'sleep');
      child.kill('SIGKILL');
      await noProcessWith(mark);
      expect(processesWith(mark)).toEqual([]);
    });

    it('keeps what a failed build compiled for the next one, and uses the folders that the user chose', async () => {
      const [source, chosen] = [sourceFolder(), tempFolder('chosen')];
      const fails = goFolder(BUILDS.replace('build) ', 'build) mkdir -p "$GOCACHE" "$GOMODCACHE"; exit 1;'));
      await expect(resolve({ env: { ...environment(), PATH: fails }, source })).rejects.toMatchObject({
        code: 'Build',
      });
      expect(namesIn('go')).toEqual(['build', 'modules']);
      const env = {
        ...environment(),
        PATH: goFolder(BUILDS),
        GOCACHE: join(chosen, 'a'),
        GOMODCACHE: join(chosen, 'b'),
      };
      await resolve({ env, source });
      expect([namesIn('go'), readdirSync(chosen).toSorted()]).toEqual([[], ['a', 'b']]);
    });

    it('happens once for two concurrent calls', async () => {
      const counter = join(home, 'builds');
      const env = { ...environment(), PATH: goFolder(`[ "$1" = build ] && echo x >> ${counter}\n${BUILDS}`) };
      const source = sourceFolder();
      const both = await Promise.all([resolve({ env, source }), resolve({ env, source })]);
      expect(both[0].folder).toBe(both[1].folder);
      expect(readFileSync(counter, 'utf8')).toBe('x\n');
    });
  });

  describe('on other platforms', () => {
    it.each([
      ['darwin', 'arm64', /virtual machine/],
      ['win32', 'x64', /WSL/],
      ['linux', 'riscv64', /Linux machine/],
    ])('fails with a hint: %s/%s', async (platform, arch, hint) => {
      await expect(resolve({ host: { platform, arch } })).rejects.toMatchObject({
        code: 'Unsupported',
        where: `${platform}/${arch}`,
        hint: expect.stringMatching(hint) as string,
      });
    });
  });

  function resolve(options: Partial<ResolveOptions> = {}): ReturnType<typeof resolveBinaries> {
    return resolveBinaries({
      env: environment(),
      programs: ['etcd', 'kube-apiserver'],
      clock,
      onStep: (step) => {
        steps.push(step);
        if (/^downloading kube-apiserver: [\d.]+ of/.test(step)) site.cut();
      },
      host: LINUX,
      pauseMs: 1,
      ...options,
    });
  }

  /** Without go, as for most users. */
  function environment(): Record<string, string> {
    return { HOME: home, PATH: tempFolder('empty-path'), ...site.env };
  }

  function replaceArchive(entries: Parameters<typeof tarGz>[0]): void {
    const archive = tarGz(entries);
    site.files.set(etcdPath(ETCD_ARCHIVE), archive);
    site.files.set(etcdPath('SHA256SUMS'), Buffer.from(`${sum(archive)}  ${ETCD_ARCHIVE}\n`));
  }

  /** Complete entries of the cache. */
  function cached(): string[] {
    return namesIn('kube').filter((name) => !name.endsWith('.tmp'));
  }

  /** Temporary folders and partial files. */
  function leftovers(): string[] {
    return [...namesIn('kube').filter((name) => name.endsWith('.tmp')), ...namesIn('downloads')];
  }

  function namesIn(folder: string): string[] {
    const path = join(home, '.cache/kubenode', folder);
    return existsSync(path) ? readdirSync(path) : [];
  }
});

function program(path: string, script: string): void {
  writeFileSync(path, `#!/bin/sh\n${script}\n`);
  chmodSync(path, 0o755);
}

function times<T>(count: number, value: T): T[] {
  return Array.from({ length: count }, () => value);
}

function goFolder(script: string): string {
  const folder = tempFolder('go');
  program(join(folder, 'go'), script);
  return `${folder}:/usr/bin:/bin`;
}

function sourceFolder(): string {
  const folder = tempFolder('source');
  for (const name of ['go.mod', 'go.sum', 'main.go']) writeFileSync(join(folder, name), name);
  chmodSync(folder, 0o500);
  return folder;
}

function assets(...names: string[]): string {
  const folder = tempFolder('assets');
  for (const name of names) program(join(folder, name), `echo ${name}`);
  return folder;
}
