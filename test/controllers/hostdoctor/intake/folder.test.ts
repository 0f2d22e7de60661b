import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, renameSync, rmSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createFolderMemory, scanFolder } from '../../../../src/controllers/hostdoctor/intake/folder.ts';
import type { ReportRecorder } from '../../../../src/controllers/hostdoctor/report/execute.ts';
import { ApiRefusal } from '../../../../src/sim/api-server/refusal.ts';
import { memoryLog } from '../../../support/memory-log.ts';
import { tempFolder } from '../../../support/temp.ts';
import { hardwareReport, type ReportBed, reportBed } from '../report/reports.ts';

interface FolderBed extends ReportBed {
  readonly path: string;
  readonly scan: (times?: number) => Promise<void>;
  /** Writes a file of an event, by a rename, with a time of change before now. */
  readonly put: (name: string, content: unknown, age?: number) => void;
  readonly logged: () => readonly string[];
  readonly restart: () => void;
}

function open(path = tempFolder('events'), afterRecord: () => void = () => undefined): FolderBed {
  const bed = reportBed();
  const { clock } = bed;
  const recorder: ReportRecorder = {
    async record(request) {
      const outcome = await bed.recorder.record(request);
      afterRecord();
      return outcome;
    },
  };
  const log = memoryLog();
  let memory = createFolderMemory();
  const signal = new AbortController().signal;
  return {
    ...bed,
    path,
    scan: async (times = 2) => {
      for (let done = 0; done < times; done += 1) {
        // oxlint-disable-next-line no-await-in-loop -- one scan after the other
        await scanFolder(
          { path, recorder },
          { memory, now: () => clock.now(), context: { clock, log, signal } },
        );
        await clock.advance(10_000); // oxlint-disable-line no-await-in-loop
      }
    },
    put: (name, content, age = 60) => {
      const file = join(path, name);
      writeFileSync(`${file}.tmp`, typeof content === 'string' ? content : JSON.stringify(content));
      const changed = new Date(clock.now().getTime() - age * 1000);
      utimesSync(`${file}.tmp`, changed, changed);
      renameSync(`${file}.tmp`, file);
    },
    logged: () => log.lines.map((line) => JSON.stringify(line)),
    restart: () => {
      memory = createFolderMemory();
    },
  };
}

describe('MAC-39 the folder of events', () => {
  it('is read when a file is complete: its event is recorded once, also after a restart', async () => {
    const bed = open();
    bed.put('psu-7.json', hardwareReport());
    await bed.scan(1);
    expect(bed.events()).toEqual({});
    await bed.scan();
    bed.restart();
    await bed.scan(3);
    expect(bed.events()).toEqual({ 'local-psu-7': 'psu-7 Scheduled' });
    expect(bed.api.journal).toHaveLength(1);
    expect(readdirSync(bed.path)).toEqual(['psu-7.json']);
  });

  it('takes an event back when its file tells so, and not when the file is removed', async () => {
    const bed = open();
    bed.put('psu-7.json', hardwareReport());
    bed.put('psu-8.json', hardwareReport({ eventID: 'psu-8' }));
    await bed.scan();
    rmSync(join(bed.path, 'psu-8.json'));
    bed.put('psu-7.json', hardwareReport({ state: 'Cancelled' }), 5);
    await bed.scan();
    expect(bed.events()).toEqual({ 'local-psu-7': 'psu-7 Cancelled', 'local-psu-8': 'psu-8 Scheduled' });
  });

  it('moves each bad file aside with its reason in the log, and reads the good ones', async () => {
    const bed = open();
    bed.put('bad.json', '{"eventID":');
    bed.put('huge.json', 'x'.repeat(65_537));
    bed.put('wrong.json', { ...hardwareReport(), typ: 'Reboot' });
    mkdirSync(join(bed.path, 'folder.json'));
    symlinkSync('/etc/hostname', join(bed.path, 'link.json'));
    execFileSync('mkfifo', [join(bed.path, 'pipe.json')]);
    bed.put('z.json', hardwareReport());
    await bed.scan(4);
    expect(bed.events()).toEqual({ 'local-psu-7': 'psu-7 Scheduled' });
    const bad = ['bad', 'folder', 'huge', 'link', 'pipe', 'wrong'].map((name) => `${name}.json.rejected`);
    expect(readdirSync(bed.path).toSorted()).toEqual([...bad, 'z.json']);
    const rejected = bed.logged().filter((line) => line.includes('rejected'));
    expect(rejected).toHaveLength(6);
    expect(rejected.join('\n')).toMatch(
      /bad\.json.*JSON object[^]*folder\.json.*not a regular file[^]*huge\.json.*larger than 64 KiB[^]*link\.json.*symbolic link[^]*pipe\.json.*not a regular file[^]*wrong\.json.*typ: /,
    );
  });

  it('waits for a machine that does not exist yet, which it logs once', async () => {
    const bed = open();
    bed.put('m-9.json', hardwareReport({ machine: 'm-9' }));
    await bed.scan(14);
    expect(bed.logged()).toEqual([expect.stringContaining('Machine m-9 does not exist') as string]);
    bed.add({
      apiVersion: 'kubenode.dev/v1alpha1',
      kind: 'Machine',
      metadata: { name: 'm-9' },
      spec: { infra: { provider: 'ssh' } },
    });
    await bed.scan(7);
    expect(bed.events()).toEqual({ 'ssh-psu-7': 'psu-7 Scheduled' });
  });

  it('leaves a file that cannot be read for a while where it is, and reads it later', async () => {
    const path = tempFolder('events');
    const bed = open(path, () => {
      // What is mounted there goes away in the middle of a scan.
      renameSync(path, `${path}.away`);
      writeFileSync(path, '');
    });
    bed.put('a.json', hardwareReport());
    bed.put('b.json', hardwareReport({ eventID: 'psu-8' }));
    await bed.scan();
    rmSync(path);
    renameSync(`${path}.away`, path);
    expect(bed.logged().filter((line) => line.includes('not recorded'))).toEqual([
      expect.stringMatching(/b\.json.*it cannot be read: ENOTDIR/) as string,
    ]);
    expect(readdirSync(path).toSorted()).toEqual(['a.json', 'b.json']);
    await bed.scan(7);
    rmSync(path);
    renameSync(`${path}.away`, path);
    expect(Object.keys(bed.events())).toEqual(['local-psu-7', 'local-psu-8']);
  });

  it('logs once what cannot be recorded, and leaves the file to a person', async () => {
    const bed = open();
    bed.put('psu-7.json', hardwareReport({ state: 'Done' }));
    await bed.scan();
    bed.put('psu-7.json', hardwareReport(), 5);
    await bed.scan(5);
    expect(bed.logged().filter((line) => line.includes('cannot begin again'))).toHaveLength(1);
    expect(bed.events()).toEqual({ 'local-psu-7': 'psu-7 Done' });
  });

  it('believes no time of change in the future, which would hide all later reports', async () => {
    const bed = open();
    bed.put('psu-7.json', hardwareReport(), -86_400);
    await bed.scan();
    await bed.clock.advance(60_000);
    const now = bed.clock.now();
    const report = hardwareReport({ state: 'Executing' });
    expect(await bed.recorder.record({ report, now, reportedAt: now })).toMatchObject({ type: 'Recorded' });
  });

  it('fails while the API server does not answer, and then reads the same file again', async () => {
    const bed = open();
    bed.put('a.json', hardwareReport());
    bed.put('b.json', hardwareReport({ eventID: 'psu-8' }));
    await bed.scan(1);
    bed.api.refuse(/^create MaintenanceEvent local-psu-8/, new ApiRefusal(500, 'InternalError', 'not now'));
    await expect(bed.scan(1)).rejects.toThrow(/not now/);
    await bed.scan(1);
    expect(Object.keys(bed.events())).toEqual(['local-psu-7', 'local-psu-8']);
    expect(bed.api.journal).toHaveLength(3);
  });

  it('takes a folder that cannot be read for no empty one, and logs it once', async () => {
    const bed = open(join(tempFolder('events'), 'not-mounted'));
    await bed.scan(3);
    expect(bed.logged()).toEqual([expect.stringMatching(/not read whole.*ENOENT/) as string]);
  });
});
