/** Compares pictures in the browser that took them, and tells whether two browsers can be expected to draw the same. */
import { execFileSync } from 'node:child_process';
import type { Browser } from 'playwright-core';

export interface PictureDifference {
  /** Pixels that differ by more than antialiasing does, and where. */
  readonly pixels: number;
  /** Empty: nothing differs. */
  readonly where: string;
}

/** Of 255 in a channel: a letter on its background differs by more than 100. */
const TOLERANCE = 48;

export async function comparePictures(
  browser: Browser,
  expected: Buffer,
  found: Buffer,
): Promise<PictureDifference> {
  const page = await browser.newPage();
  try {
    const urls = [expected, found].map((picture) => `data:image/png;base64,${picture.toString('base64')}`);
    return await page.evaluate<PictureDifference>(`(${COMPARE})(${JSON.stringify(urls)}, ${TOLERANCE})`);
  } finally {
    await page.close();
  }
}

/** Runs in the browser, which decodes the pictures. */
const COMPARE = `async (urls, tolerance) => {
  const [one, other] = await Promise.all(urls.map(async (url) => {
    const image = new Image();
    image.src = url;
    await image.decode();
    const canvas = document.createElement('canvas');
    [canvas.width, canvas.height] = [image.width, image.height];
    const context = canvas.getContext('2d');
    context.drawImage(image, 0, 0);
    return context.getImageData(0, 0, image.width, image.height);
  }));
  const size = ({ width, height }) => width + ' x ' + height;
  if (size(one) !== size(other)) {
    return { pixels: other.width * other.height, where: 'the whole: ' + size(other) + ' instead of ' + size(one) };
  }
  let [pixels, left, top, right, bottom] = [0, Infinity, Infinity, 0, 0];
  for (let at = 0; at < one.data.length; at += 4) {
    if (![0, 1, 2].some((channel) => Math.abs(one.data[at + channel] - other.data[at + channel]) > tolerance)) continue;
    const [x, y] = [(at / 4) % one.width, Math.floor(at / 4 / one.width)];
    pixels += 1;
    [left, top, right, bottom] = [Math.min(left, x), Math.min(top, y), Math.max(right, x), Math.max(bottom, y)];
  }
  return { pixels, where: pixels === 0 ? '' : 'from ' + left + ', ' + top + ' to ' + right + ', ' + bottom };
}`;

/** What decides how the same page looks besides the page itself. */
export interface DrawnWith {
  readonly chromium: string;
  readonly fonts: readonly string[];
}

export function drawnWith(browser: Browser): DrawnWith {
  const list = execFileSync('fc-list', ['--format', '%{file|basename} %{fontversion}\n'], {
    encoding: 'utf8',
  });
  return { chromium: browser.version(), fonts: [...new Set(list.trim().split('\n'))].toSorted() };
}

/** Why a picture that was taken with `recorded` cannot be compared with one of now; undefined: it can. */
export function incomparableReason(recorded: DrawnWith, now: DrawnWith): string | undefined {
  if (recorded.chromium !== now.chromium) {
    return `the picture was taken with Chromium ${recorded.chromium}, this is ${now.chromium}`;
  }
  const known = new Set(recorded.fonts);
  const present = new Set(now.fonts);
  const others = [
    ...now.fonts.filter((font) => !known.has(font)),
    ...recorded.fonts.filter((font) => !present.has(font)),
  ];
  return others.length > 0
    ? `the picture was taken with other fonts: ${others.slice(0, 3).join(', ')}`
    : undefined;
}
