/** Reads the file of images that `kubenode hosting` runs control planes from, as its pods get it. */
import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { parseWorkloadImages } from '../../../controllers/hosting/drivers/workload/images.ts';
import { messageOf } from '../../../os/errors.ts';
import { CliError, EXIT } from '../../errors.ts';
import type { Io } from '../../io.ts';
import type { DeployFlags } from './deploy.ts';

/** Returns the content. A file that hosting would refuse is refused here, not by its pods. */
export async function readImages(
  { cwd }: Pick<Io, 'cwd'>,
  { images }: Pick<DeployFlags, 'images'>,
): Promise<string | undefined> {
  if (images === undefined) return undefined;
  const text = await readFile(resolve(cwd, images), 'utf8').catch((error: unknown) => {
    throw new CliError(`the file cannot be read: ${messageOf(error)}`, {
      where: images,
      exitCode: EXIT.badInput,
      cause: error,
    });
  });
  parseWorkloadImages(text, images);
  return text;
}
