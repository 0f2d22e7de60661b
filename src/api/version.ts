/** The group and version of all our kinds. */
import { GROUP } from './names.ts';

export const VERSION = 'v1alpha1';
export const API_VERSION = `${GROUP}/${VERSION}` as const;
