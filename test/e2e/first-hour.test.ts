/** The hour of docs/guides/first-hour.md on real API servers, by the packed package. What it prints at 80 columns is first-hour.txt. */
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, onTestFailed } from 'vitest';
import { stopLocalFleet } from '../../src/local/fleet.ts';
import { stateFolder } from '../../src/local/folders.ts';
import { createSystemClock } from '../../src/os/system-clock.ts';
import { npm, packedTarball, unpackBeside } from '../support/packed.ts';
import { tempFolder } from '../support/temp.ts';
import { type UserShell, userShell } from './first-hour.ts';

const GOLDEN = 'first-hour.txt';

describe('the first hour', () => {
  const home = tempFolder('hour');
  const fleet = join(home, 'my-fleet');
  let shell: UserShell;
  const stops: (() => Promise<void>)[] = [];

  beforeAll(async () => {
    const tarball = await packedTarball();
    const unpacked = unpackBeside(tarball, join(home, 'package'));
    const packages = [join(fleet, 'node_modules/kubenode'), unpacked];
    shell = await userShell({ home, packages, patienceMs: 600_000 });
  });

  afterAll(async () => {
    await Promise.all([...stops.map((stop) => stop()), shell.close()]);
    const dir = stateFolder({ XDG_STATE_HOME: join(home, 'state') });
    await stopLocalFleet({ dir, clock: createSystemClock(), onStep: () => undefined, wipe: true });
    // Tens of thousands of files take longer than the default timeout of hooks.
    rmSync(home, { recursive: true, force: true });
  });

  it('prints what the golden file has', async () => {
    onTestFailed(() => void process.stderr.write(shell.transcript()));
    await begin();
    await change();
    await takeBack();
    await freeze();
    await rewriteHistory();
    await hold();
    await end();
    await expect(shell.transcript()).toMatchFileSnapshot(GOLDEN);
  });

  async function begin(): Promise<void> {
    shell.note('Before anything runs');
    await shell.show('kubenode', 'status');
    await shell.show('kubenode', 'local', 'up', '--clusters', '4');
    await shell.show('kubenode', 'init', 'my-fleet', '--plain');
    shell.note('soakSeconds: 1 in fleet/pipelines.ts, which saves minutes');
    edit('fleet/pipelines.ts', /soakSeconds: \d+/g, 'soakSeconds: 1');
    await commit('The fleet');
    shell.note('In my-fleet: npm ci');
    npm(fleet, 'ci');
    shell.note('In a second terminal: kubenode sync --from my-fleet');
    stops.push(await shell.start('kubenode', 'sync', '--from', 'my-fleet'));
    await proven();
    await shell.show('kubenode', 'status', 'prod');
  }

  async function change(): Promise<void> {
    shell.note("shop: '1.1.0' in fleet/versions.ts");
    edit('fleet/versions.ts', '1.0.0', '1.1.0');
    await shell.show('kubenode', 'plan', '--repo', 'my-fleet');
    await commit('shop 1.1.0');
    await shell.ask('kubenode', 'sync', 'now');
    await proven();
    await shell.show('kubenode', 'release', 'list');
    await fits('kubenode', 'status');
    await fits('kubenode', 'status', 'prod');
  }

  async function takeBack(): Promise<void> {
    await shell.ask('git', '-C', fleet, 'revert', '--no-edit', 'HEAD');
    shell.note('git revert HEAD');
    await shell.ask('kubenode', 'sync', 'now');
    await proven();
  }

  async function freeze(): Promise<void> {
    const prod = ['fleet', '--cluster', 'prod'];
    await shell.show('kubenode', 'release', 'halt', ...prod, '--reason', 'ticket 42');
    await shell.showOnce(/^prod [^\n]*Paused[^\n]*ticket 42/m, 'kubenode', 'status');
    await shell.show('kubenode', 'release', 'resume', ...prod);
    await proven();
    await shell.show('kubenode', 'release', 'halt', ...prod, '--unit', 'shpo');
    await shell.show('kubenode', 'release', 'halt', ...prod, '--unit', 'shop', '--reason', 'ticket 42');
    await shell.showOnce(/^└─ shop: Paused /m, 'kubenode', 'status', 'prod');
    await shell.show('kubenode', 'release', 'resume', ...prod, '--unit', 'shop');
  }

  async function rewriteHistory(): Promise<void> {
    shell.note('git commit --amend');
    await shell.ask('git', '-C', fleet, 'commit', '-q', '--amend', '-m', 'Another text');
    await shell.showOnce(/^fleet +SourceFailed [^\n]*NotDescendant/m, 'kubenode', 'status');
    await shell.show('kubenode', 'release', 'accept-head');
    await shell.show('kubenode', 'release', 'accept-head', '--yes');
    await proven();
  }

  async function hold(): Promise<void> {
    shell.note('The Namespace is declared no more');
    edit('fleet/shop.ts', /^ {2}new ApiObject\(chart, 'namespace'.*\n/m, '');
    await commit('shop without its namespace');
    await shell.ask('kubenode', 'sync', 'now');
    await shell.showOnce(/^fleet +Held [^]*^test [^\n]* Held /m, 'kubenode', 'status');
    await fits('kubenode', 'status');
    const acknowledge = ['release', 'acknowledge', 'test', '--reason', 'shop moved away'];
    await shell.show('kubenode', ...acknowledge);
    await shell.show('kubenode', ...acknowledge, '--commit', '--repo', 'my-fleet');
  }

  async function end(): Promise<void> {
    await stops.pop()?.();
    shell.note('The clusters are stopped');
    await shell.show('kubenode', 'local', 'down');
    await shell.show('kubenode', 'status');
  }

  function edit(file: string, from: RegExp | string, to: string): void {
    const path = join(fleet, file);
    const text = readFileSync(path, 'utf8');
    const changed = text.replace(from, to);
    expect(changed).not.toBe(text);
    writeFileSync(path, changed);
  }

  async function commit(message: string): Promise<void> {
    await shell.ask('git', '-C', fleet, 'add', '.');
    await shell.ask('git', '-C', fleet, 'commit', '-qm', message);
  }

  async function fits(...command: readonly string[]): Promise<void> {
    const printed = await shell.onTerminal(...command);
    const lines = printed.filter((line) => !line.startsWith('no kubeconfig specified'));
    expect(lines.length).toBeGreaterThan(2);
    expect(lines.filter((line) => line.length > 80)).toEqual([]);
  }

  /** The head, on every cluster. */
  async function proven(): Promise<void> {
    const head = (await shell.ask('git', '-C', fleet, 'rev-parse', '--short=7', 'HEAD')).trim();
    const each = ['test', 'pre', 'prod'].map(
      (name) => `(?=[^]*^${name} [^\\n]*${head}[^\\n]*proven on this cluster)`,
    );
    await shell.showOnce(new RegExp(`^(?=[^]*^fleet +UpToDate )${each.join('')}`, 'm'), 'kubenode', 'status');
  }
});
