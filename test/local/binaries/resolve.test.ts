import { execFileSync } from 'node:child_process';
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
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { programIn } from '../../../src/local/binaries/binaries.ts';
import { type ObtainOptions, obtainBinaries } from '../../../src/local/binaries/resolve.ts';
import { KUBERNETES_VERSION } from '../../../src/local/binaries/versions.ts';
import { createSystemClock } from '../../../src/os/system-clock.ts';
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

describe('obtainBinaries', () => {
  let site: ReleaseSite;
  let home: string;
  let told: string[];

  beforeEach(async () => {
    site = await releaseSite();
    home = tempFolder('home');
    told = [];
  });
  afterEach(async () => {
    await site.close();
  });

  describe('with a folder of the user', () => {
    it.each(['--kube-assets', 'KUBEBUILDER_ASSETS'])('takes what %s names, and asks nobody', async (way) => {
      const folder = assets('etcd', 'kube-apiserver');
      const { env, assets: named } =
        way === '--kube-assets'
          ? { env: {}, assets: folder }
          : { env: { KUBEBUILDER_ASSETS: folder }, assets: undefined };
      const binaries = await obtain({ env: { ...environment(), ...env }, assets: named });
      expect(binaries.folder).toBe(folder);
      expect(site.asked).toEqual([]);
    });

    it('prefers the flag', async () => {
      const folder = assets('etcd', 'kube-apiserver');
      const env = { ...environment(), KUBEBUILDER_ASSETS: tempFolder('other') };
      expect((await obtain({ env, assets: folder })).folder).toBe(folder);
    });

    it('names all that is missing there', async () => {
      const folder = assets('etcd');
      const promise = obtain({ assets: folder, wanted: ['etcd', 'kube-apiserver', 'kubectl'] });
      await expect(promise).rejects.toMatchObject({
        code: 'NoBinaries',
        message: '--kube-assets names a folder without kube-apiserver, kubectl',
        where: folder,
      });
    });
  });

  describe('by download', () => {
    it('gets what is wanted, executable, and finds it in the cache from then on', async () => {
      const binaries = await obtain();
      const run = programIn(binaries);
      expect(execFileSync(run('etcd'), { encoding: 'utf8' })).toBe('etcd\n');
      expect(execFileSync(run('kube-apiserver'), { encoding: 'utf8' })).toBe('kube-apiserver\n');
      expect(told.some((step) => /^downloading kube-apiserver: .*\(100 %\)$/.test(step))).toBe(true);
      site.asked.length = 0;
      expect((await obtain()).folder).toBe(binaries.folder);
      expect(site.asked).toEqual([]);
      expect(leftovers()).toEqual([]);
    });

    it('adds what is wanted later, and leaves alone what is there', async () => {
      await obtain();
      site.asked.length = 0;
      const { folder } = await obtain({ wanted: ['etcd', 'kube-apiserver', 'kubectl'] });
      expect(site.asked).toEqual([`${kubePath('kubectl')}.sha256`, kubePath('kubectl')]);
      expect(readdirSync(folder).toSorted()).toEqual(['etcd', 'kube-apiserver', 'kubectl', 'manifest.json']);
    });

    it('goes on where it was cut off, again and again', async () => {
      site.fail(
        API_SERVER,
        { kind: 'cut', after: 1000 },
        { kind: 'cut', after: 700 },
        { kind: 'status', status: 503 },
      );
      expect(readFileSync(programIn(await obtain())('kube-apiserver'))).toEqual(CONTENT);
      const ranges = site.asked.filter((path) => path.startsWith(`${API_SERVER} `));
      expect(ranges).toEqual([
        `${API_SERVER} bytes=1000-`,
        `${API_SERVER} bytes=1700-`,
        `${API_SERVER} bytes=1700-`,
      ]);
    });

    it('goes on where another process was cut off', async () => {
      site.fail(
        API_SERVER,
        { kind: 'cut', after: 1000 },
        ...times(4, { kind: 'status', status: 500 } as const),
      );
      await expect(obtain()).rejects.toMatchObject({ code: 'NoBinaries' });
      site.asked.length = 0;
      expect(readFileSync(programIn(await obtain())('kube-apiserver'))).toEqual(CONTENT);
      expect(site.asked).toContain(`${API_SERVER} bytes=1000-`);
    });

    it('starts again where the server knows no ranges', async () => {
      site.fail(API_SERVER, { kind: 'cut', after: 1000 }, { kind: 'whole' });
      expect(readFileSync(programIn(await obtain())('kube-apiserver'))).toEqual(CONTENT);
      const asked = site.asked.filter((path) => path.split(' ')[0] === API_SERVER);
      expect(asked).toEqual([API_SERVER, `${API_SERVER} bytes=1000-`]);
    });

    it('does not wait for ever where nothing comes', async () => {
      site.fail(API_SERVER, { kind: 'silence', after: 100 });
      expect(readFileSync(programIn(await obtain({ silenceMs: 200 }))('kube-apiserver'))).toEqual(CONTENT);
      expect(told.some((step) => step.includes('no data for'))).toBe(true);
    });

    it('takes a part that was complete for what it is', async () => {
      const downloads = join(home, '.cache/kubenode/downloads');
      mkdirSync(downloads, { recursive: true });
      writeFileSync(join(downloads, `kube-apiserver-${sum(CONTENT)}.part`), CONTENT);
      expect(readFileSync(programIn(await obtain())('kube-apiserver'))).toEqual(CONTENT);
      expect(site.asked).not.toContain(API_SERVER);
    });

    it('throws away a part that turns out wrong, and tries once more from the start', async () => {
      const downloads = join(home, '.cache/kubenode/downloads');
      mkdirSync(downloads, { recursive: true });
      writeFileSync(join(downloads, `kube-apiserver-${sum(CONTENT)}.part`), 'something else');
      expect(readFileSync(programIn(await obtain())('kube-apiserver'))).toEqual(CONTENT);
    });

    it('refuses what is not what was announced: no build, no second way, nothing kept', async () => {
      site.files.set(API_SERVER, Buffer.concat([CONTENT, Buffer.from('more')]));
      const promise = obtain({ env: { ...environment(), PATH: goFolder('exit 0') } });
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
        'holds no checksum',
      ],
      [
        'is not among the checksums',
        () => site.files.set(etcdPath('SHA256SUMS'), Buffer.from('')),
        'holds no checksum',
      ],
      ['is packed without etcd', () => replaceArchive([]), 'does not contain the file etcd'],
    ])('says so where a program %s, and how else to get it', async (_, change, because) => {
      change();
      await expect(obtain()).rejects.toMatchObject({
        code: 'NoBinaries',
        message: expect.stringContaining(because) as string,
        hint: expect.stringMatching(/install Go.*KUBEBUILDER_ASSETS/s) as string,
      });
      // An answer that will not change is not asked for again.
      expect(new Set(site.asked).size).toBe(site.asked.length);
      expect(cached()).toEqual([]);
    });

    it('takes out of the archive the one file, whatever else lies in there', async () => {
      replaceArchive([
        { path: '../../etcd', type: '2', content: Buffer.alloc(0) },
        { path: 'x/etcd', type: '5', content: Buffer.alloc(0) },
        { path: 'x/etcd', type: '0', content: programText('etcd') },
      ]);
      expect(readFileSync(programIn(await obtain())('etcd'))).toEqual(programText('etcd'));
    });

    it('says so when the disk is full, and frees what it took', async () => {
      if (!existsSync('/dev/full')) return;
      const downloads = join(home, '.cache/kubenode/downloads');
      mkdirSync(downloads, { recursive: true });
      execFileSync('ln', ['-s', '/dev/full', join(downloads, `kube-apiserver-${sum(CONTENT)}.part`)]);
      await expect(obtain()).rejects.toMatchObject({
        code: 'DiskFull',
        hint: expect.stringContaining('XDG_CACHE_HOME') as string,
      });
      expect(leftovers()).toEqual([]);
      expect(cached()).toEqual([]);
    });

    it('stops when nobody wants it any more', async () => {
      const enough = new AbortController();
      site.fail(API_SERVER, { kind: 'silence', after: 100 });
      const promise = obtain({
        signal: enough.signal,
        tell: (step) => step.includes('kube-apiserver:') && enough.abort(new Error('enough')),
      });
      await expect(promise).rejects.toThrow('enough');
      expect(cached()).toEqual([]);
    });

    it('happens once for two who want it at once', async () => {
      const [first, second] = await Promise.all([obtain(), obtain()]);
      expect(first.folder).toBe(second.folder);
      expect(site.asked.filter((path) => path === API_SERVER)).toHaveLength(1);
    });
  });

  describe('from the cache', () => {
    it.each([
      ['changed', (path: string) => writeFileSync(path, programText('kube-apiservez'))],
      ['cut short', (path: string) => writeFileSync(path, 'x')],
      ['lost', (path: string) => rmSync(path)],
    ])('takes no program that was %s: it is fetched again', async (_, spoil) => {
      const { folder } = await obtain();
      spoil(join(folder, 'kube-apiserver'));
      expect(readFileSync(programIn(await obtain())('kube-apiserver'))).toEqual(CONTENT);
    });

    it('takes what was copied from elsewhere, once its checksum is right', async () => {
      const { folder } = await obtain();
      utimesSync(join(folder, 'kube-apiserver'), 0, 0);
      site.asked.length = 0;
      expect((await obtain()).folder).toBe(folder);
      expect(site.asked).toEqual([]);
    });

    it('takes no folder without a manifest: its writer was killed', async () => {
      const { folder } = await obtain();
      rmSync(join(folder, 'manifest.json'));
      site.asked.length = 0;
      await obtain();
      expect(site.asked).toContain(API_SERVER);
    });
  });

  describe('by go build', () => {
    // A stand-in for go, which takes minutes. The real one runs in the long tests.
    const BUILDS = `case "$1" in
      version) echo go;;
      list) echo "go: downloading k8s.io/api v0" >&2; printf 'a\\nb\\nc\\n';;
      build) test "$GOFLAGS" = -mod=readonly || exit 3; test "$CGO_ENABLED" = 0 || exit 4; test -f go.sum || exit 5
        printf 'a\\nb\\n' >&2
        while [ "$1" != -o ]; do shift; done
        printf '#!/bin/sh\\necho Kubernetes ${KUBERNETES_VERSION}\\n' > "$2"; chmod +x "$2";;
      esac`;

    beforeEach(() => {
      site.files.clear();
    });

    it('is the way where there is no release: one file, known by six names', async () => {
      const source = sourceFolder();
      const before = readdirSync(source).map((name) => statSync(join(source, name)).mtimeMs);
      const env = { ...environment(), PATH: goFolder(BUILDS), GOFLAGS: '-mod=vendor', CGO_ENABLED: '1' };
      const { folder } = await obtain({ env, source });
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
      expect(told.some((step) => step.includes('1 Go modules downloaded'))).toBe(true);
      expect(told.some((step) => step.includes('of at most 3 packages compiled'))).toBe(true);
      expect(leftovers()).toEqual([]);
      // Another go.mod is another build, this one is found again.
      expect((await obtain({ env: { ...env, PATH: goFolder('exit 1') }, source })).folder).toBe(folder);
    });

    it.each([
      [
        'fails',
        BUILDS.replace('build) ', 'build) echo no space left >&2; exit 1;'),
        /go ended with 1\n {2}\| no space left/,
      ],
      [
        'makes another version',
        BUILDS.replace(KUBERNETES_VERSION, 'v1.0.0'),
        /says it is Kubernetes v1\.0\.0/,
      ],
    ])('that %s leaves nothing behind', async (_, go, message) => {
      const promise = obtain({ env: { ...environment(), PATH: goFolder(go) }, source: sourceFolder() });
      await expect(promise).rejects.toMatchObject({
        code: 'Build',
        message: expect.stringMatching(message) as string,
      });
      expect(cached()).toEqual([]);
      expect(leftovers()).toEqual([]);
    });

    it('happens once for two who want it at once', async () => {
      const counter = join(home, 'builds');
      const env = { ...environment(), PATH: goFolder(`[ "$1" = build ] && echo x >> ${counter}\n${BUILDS}`) };
      const source = sourceFolder();
      const both = await Promise.all([obtain({ env, source }), obtain({ env, source })]);
      expect(both[0].folder).toBe(both[1].folder);
      expect(readFileSync(counter, 'utf8')).toBe('x\n');
    });
  });

  describe('on other platforms', () => {
    it.each([
      ['darwin', 'arm64', /virtual machine/],
      ['win32', 'x64', /WSL/],
      ['linux', 'riscv64', /Linux machine/],
    ])('says a clear word: %s/%s', async (platform, arch, hint) => {
      await expect(obtain({ host: { platform, arch } })).rejects.toMatchObject({
        code: 'Unsupported',
        where: `${platform}/${arch}`,
        hint: expect.stringMatching(hint) as string,
      });
    });
  });

  function obtain(options: Partial<ObtainOptions> = {}): ReturnType<typeof obtainBinaries> {
    return obtainBinaries({
      env: environment(),
      wanted: ['etcd', 'kube-apiserver'],
      clock,
      tell: (step) => {
        told.push(step);
        if (/^downloading kube-apiserver: [\d.]+ of/.test(step)) site.cut();
      },
      host: LINUX,
      pauseMs: 1,
      ...options,
    });
  }

  /** Without a go: that is what most users have. */
  function environment(): Record<string, string> {
    return { HOME: home, PATH: tempFolder('empty-path'), ...site.env };
  }

  function replaceArchive(entries: Parameters<typeof tarGz>[0]): void {
    const archive = tarGz(entries);
    site.files.set(etcdPath(ETCD_ARCHIVE), archive);
    site.files.set(etcdPath('SHA256SUMS'), Buffer.from(`${sum(archive)}  ${ETCD_ARCHIVE}\n`));
  }

  /** Folders in the cache that claim to be whole. */
  function cached(): string[] {
    return namesIn('kube').filter((name) => !name.endsWith('.tmp'));
  }

  /** What should have been cleared away: half folders, parts of files. */
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
