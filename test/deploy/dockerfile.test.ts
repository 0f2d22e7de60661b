/** The Dockerfile builds from files that exist, and starts a program that is in the package. What it builds runs in test/nodes/deploy. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { containerOf, IMAGE_USER } from '../../src/deploy/container.ts';
import { CONTROLLERS } from '../../src/deploy/programs.ts';
import { dockerInstructions } from '../support/dockerfile.ts';
import { npm } from '../support/packed.ts';

const ROOT = join(import.meta.dirname, '../..');
const { name, version, dependencies } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
  name: string;
  version: string;
  dependencies: Readonly<Record<string, string>>;
};

describe('the Dockerfile', () => {
  it('uses the version of Node.js that the package depends on, in both stages', () => {
    expect(dockerInstructions('ARG')).toEqual([`NODE_VERSION=${dependencies['node'] ?? ''}`]);
    const images = dockerInstructions('FROM').map((rest) => rest.split(' ')[0]);
    expect(images.length).toBe(2);
    // Without a host: the registry is that of the engine which builds.
    for (const image of images) expect(image).toMatch(/^node:\$\{NODE_VERSION\}-[a-z]+-slim$/);
  });

  it('copies files that exist: the packed package, and the lock file of this repository', () => {
    const copies = dockerInstructions('COPY').filter((rest) => !rest.startsWith('--from='));
    expect(copies).toEqual(['kubenode-*.tgz /tmp/', 'package-lock.json ./']);
    expect(`${name}-${version}.tgz`).toMatch(/^kubenode-.*\.tgz$/);
    expect(existsSync(join(ROOT, 'package-lock.json'))).toBe(true);
    const ignored = readFileSync(join(ROOT, 'deploy/Dockerfile.dockerignore'), 'utf8').trim().split('\n');
    expect(ignored).toEqual(['*', ...copies.map((rest) => `!${rest.split(' ')[0]}`)]);
  });

  it('copies between stages only what the first one writes', () => {
    const [workdir = ''] = dockerInstructions('WORKDIR');
    const between = dockerInstructions('COPY').filter((rest) => rest.startsWith('--from='));
    expect(between).toEqual([`--from=build ${workdir} ${workdir}`]);
    expect(dockerInstructions('FROM')[0]).toMatch(/ AS build$/);
  });

  it('starts the program of the package, as a file that npm packs', () => {
    const [workdir = ''] = dockerInstructions('WORKDIR');
    const [node, program = ''] = JSON.parse(dockerInstructions('ENTRYPOINT')[0] ?? '[]') as string[];
    const packed = JSON.parse(npm(ROOT, 'pack', '--dry-run', '--ignore-scripts', '--json')) as {
      files: readonly { path: string }[];
    }[];
    expect(node).toBe('node');
    expect(program.startsWith(`${workdir}/`)).toBe(true);
    expect(packed[0]?.files.map(({ path }) => path)).toContain(program.slice(workdir.length + 1));
  });

  it('runs as the user of the charts, which is not root', () => {
    expect(dockerInstructions('USER')).toEqual([`${IMAGE_USER}:${IMAGE_USER}`]);
    expect(IMAGE_USER).toBeGreaterThan(0);
    expect(containerOf(CONTROLLERS, 'kubenode:1').securityContext?.user).toBe(IMAGE_USER);
  });
});
