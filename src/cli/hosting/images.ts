/** Reads the file of images for control planes of driver workload. */
import {
  parseWorkloadImages,
  type WorkloadImages,
} from '../../controllers/hosting/drivers/workload/images.ts';
import { OsError } from '../../os/errors.ts';
import { readFileIfExists } from '../../os/files.ts';

export async function readWorkloadImages(path: string): Promise<WorkloadImages> {
  const text = await readFileIfExists(path);
  if (text !== undefined) return parseWorkloadImages(text, path);
  throw new OsError('BadInput', `file of images not found: ${path}`, {
    where: path,
    hint: 'create it as docs/guides/hosted-clusters.md shows, and pass it with --images',
  });
}
