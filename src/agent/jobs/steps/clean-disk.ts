/** Deletes files that nothing uses, and checks each of them again right before. */

import { dirname } from 'node:path/posix';
import type { CleanDiskInput } from '../../../api/generated/steps.ts';
import { messageOf } from '../../../os/errors.ts';
import { findFilesystem, usedPercent } from '../../facts/filesystems.ts';
import type { DiskUsage } from '../../host/port.ts';
import { type ContainerRuntime, createContainerRuntime, type UnusedItem } from '../clean/runtime.ts';
import { type FileTarget, type FoundFile, keepReason, withinLimit } from '../clean/select.ts';
import { findFiles, isRealPath } from '../clean/walk.ts';
import { parseSize } from '../size.ts';
import { failedStep, type StepContext, type StepExecutor, type StepRun, succeededStep } from './executor.ts';

type Target = CleanDiskInput['targets'][number];

export const cleanDiskStep: StepExecutor<'CleanDisk'> = {
  async problem() {
    return undefined;
  },
  async execute(context, input, run) {
    const cleaning = new Cleaning(context, input, run);
    for (const target of input.targets) {
      if (!(await cleaning.isDone(target))) await cleaning.clean(target);
    }
    const { deleted, bytes, failures, lines } = cleaning;
    const what = input.dryRun ? 'would delete' : 'deleted';
    const message = `${what} ${deleted} files, containers and images, ${bytes} bytes`;
    const [first, ...others] = failures;
    const output = [...lines, ...failures].join('\n');
    if (first === undefined) return succeededStep(message, output);
    if (deleted === 0) return failedStep('NothingDeleted', first, output);
    const more = others.length > 0 ? ` and ${others.length} more` : '';
    return succeededStep(`${message}; not all: ${first}${more}`, output);
  },
  async observe(context, { input }) {
    const run = { name: '', before: undefined, timeoutMs: 0, signal: new AbortController().signal };
    const cleaning = new Cleaning(context, { ...(input as CleanDiskInput), dryRun: true }, run);
    for (const target of (input as CleanDiskInput).targets) await cleaning.clean(target);
    return cleaning.deleted + cleaning.failures.length === 0
      ? { happened: 'Yes', message: 'nothing is left to delete' }
      : { happened: 'No', message: 'the agent ended before everything was deleted' };
  },
};

const OPEN_MS = 1000;

class Cleaning {
  readonly lines: string[] = [];
  readonly failures: string[] = [];
  deleted = 0;
  bytes = 0;
  #open: { readonly atMs: number; readonly inodes: ReadonlySet<string> } | undefined;
  readonly #context: StepContext;
  readonly #input: CleanDiskInput;
  readonly #run: StepRun;
  readonly #maxBytes: number;
  readonly #runtime: ContainerRuntime;

  constructor(context: StepContext, input: CleanDiskInput, run: StepRun) {
    this.#context = context;
    this.#input = input;
    this.#run = run;
    this.#maxBytes = parseSize(input.maxDelete);
    this.#runtime = createContainerRuntime(context.host.processes, context.config.crictl);
  }

  /** Tells whether the time is over, the limit is reached, or the disk is empty enough. */
  async isDone(target: Target): Promise<boolean> {
    const { stopAtUsedPercent } = this.#input;
    if (this.#run.signal.aborted || this.bytes >= this.#maxBytes) return true;
    if (stopAtUsedPercent === undefined) return false;
    return usedPercent(await this.#usage(target)) <= stopAtUsedPercent;
  }

  /** Returns the usage of the file system that cleaning the target frees. */
  async #usage(target: Target): Promise<DiskUsage> {
    const { host, config } = this.#context;
    const folders = (config.clean as Partial<Record<Target, readonly string[]>>)[target];
    if (folders) return await host.files.usage(folders[0] ?? '/');
    return (await findFilesystem(host.files, config.filesystems, 'imagefs')) ?? (await host.files.usage('/'));
  }

  /** Cleans a target. A target that fails does not keep the others from being cleaned. */
  async clean(target: Target): Promise<void> {
    try {
      await this.#cleanTarget(target);
    } catch (error) {
      this.failures.push(`${target} skipped: ${messageOf(error)}`);
    }
  }

  async #cleanTarget(target: Target): Promise<void> {
    const { minAgeSeconds, keepImages } = this.#input;
    if (target === 'unusedImages') {
      const images = await this.#runtime.unusedImages(keepImages);
      await this.#removeItems(target, images, (id) => this.#runtime.removeImage(id));
    } else if (target === 'deadContainers') {
      const age = minAgeSeconds.deadContainers ?? 0;
      const containers = await this.#runtime.deadContainers(age, this.#context.clock.now());
      await this.#removeItems(target, containers, (id) => this.#runtime.removeContainer(id));
    } else await this.#cleanFiles(target);
  }

  async #removeItems(
    target: Target,
    items: readonly UnusedItem[],
    remove: (id: string) => Promise<void>,
  ): Promise<void> {
    for (const { id, name, sizeBytes } of items) {
      if (sizeBytes > this.#maxBytes - this.bytes) continue;
      if (await this.isDone(target)) return;
      // The runtime itself refuses what is in use by now, which keeps no other from being removed.
      const problem = this.#input.dryRun ? undefined : await remove(id).catch(messageOf);
      if (problem === undefined) this.#count(name, sizeBytes);
      else this.failures.push(`${name} not removed: ${problem}`);
    }
  }

  async #cleanFiles(target: FileTarget): Promise<void> {
    const { host, config } = this.#context;
    const found: FoundFile[] = [];
    for (const root of config.clean[target]) found.push(...(await findFiles(host.files, root)));
    const may = await this.#selector(target);
    for (const file of withinLimit(found.filter(may), this.#maxBytes - this.bytes)) {
      if (await this.isDone(target)) return;
      const isDeleted = this.#input.dryRun || (await this.#remove(file, target));
      if (isDeleted) this.#count(file.path, file.stat.sizeBytes);
    }
  }

  async #selector(target: FileTarget): Promise<(file: FoundFile) => boolean> {
    const { clock } = this.#context;
    const options = {
      target,
      minAgeSeconds: this.#input.minAgeSeconds[target],
      openInodes: await this.#openInodes(),
      now: clock.now(),
    };
    return (file) => keepReason(file, options) === undefined;
  }

  /**
   * Returns the inodes that are open. Reading them takes a while: once a second is often enough for files that were not touched for
   * minutes.
   */
  async #openInodes(): Promise<ReadonlySet<string>> {
    const { clock, host } = this.#context;
    if (!this.#open || clock.monotonicMs() - this.#open.atMs > OPEN_MS) {
      this.#open = { atMs: clock.monotonicMs(), inodes: await host.processes.openInodes() };
    }
    return this.#open.inodes;
  }

  /** Removes a file. It may have been opened, replaced or moved behind a link since it was found, which is checked again. */
  async #remove({ path, stat }: FoundFile, target: FileTarget): Promise<boolean> {
    const { files } = this.#context.host;
    const may = await this.#selector(target);
    const now = await files.stat(path);
    const isSame = now !== undefined && now.revision === stat.revision && may({ path, stat: now });
    if (!isSame || !(await isRealPath(files, dirname(path)))) return false;
    await files.remove(path);
    return true;
  }

  #count(name: string, sizeBytes: number): void {
    this.deleted += 1;
    this.bytes += sizeBytes;
    this.lines.push(`${name} ${sizeBytes} bytes`);
  }
}
