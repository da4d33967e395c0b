const PICTURE = ['-f', 'lavfi', '-i', 'testsrc=d=1:s=96x64:r=10'];
const SOUND = ['-f', 'lavfi', '-i', 'sine=d=1'];
const STILL = ['-f', 'lavfi', '-i', 'testsrc=d=0.1:s=96x64:r=10', '-frames:v', '1'];
const H264 = ['-c:v', 'libx264', '-preset', 'ultrafast', '-pix_fmt', 'yuv420p', '-g', '4'];
const BOTH = [...PICTURE, ...SOUND, ...H264, '-c:a', 'aac'];

const BRANDS = [
  'isom',
  'mp42',
  'avc1',
  'dash',
  'msdh',
  'M4V ',
  'M4A ',
  '3gp4',
  'qt  ',
  'avis',
  'msf1',
  'mif1',
];
const FLAGS = [
  'faststart',
  'faststart+rtphint',
  'frag_keyframe',
  'frag_keyframe+empty_moov',
  'frag_every_frame+empty_moov',
  'frag_keyframe+empty_moov+default_base_moof',
  'frag_keyframe+empty_moov+omit_tfhd_offset',
  'frag_keyframe+empty_moov+separate_moof',
  'frag_keyframe+empty_moov+isml',
  'frag_keyframe+delay_moov',
  'frag_keyframe+dash+global_sidx',
  'cmaf',
];
/** Codecs that QuickTime, AVI and Matroska take. */
const CODECS: Readonly<Record<string, readonly string[]>> = {
  mpeg4: [],
  mjpeg: [],
  png: [],
  prores_ks: [],
  ffv1: [],
  qtrle: [],
  rawvideo: [],
  cinepak: [],
  huffyuv: [],
  hap: [],
  h263: ['-s', '128x96'],
};

const named = (text: string) => text.trim().replaceAll(/\W+/g, '-');

/** Files with pictures, and the arguments with which ffmpeg makes them. */
export const WITH_PICTURES: readonly (readonly [name: string, args: readonly string[]])[] = [
  ...BRANDS.map((brand) => [`brand-${named(brand)}.mp4`, [...PICTURE, ...H264, '-brand', brand]] as const),
  ...FLAGS.flatMap((flags) =>
    ['mp4', 'mov'].map((end) => [`${named(flags)}.${end}`, [...BOTH, '-movflags', flags]] as const),
  ),
  ...Object.entries(CODECS).flatMap(([codec, more]) =>
    ['mov', 'avi', 'mkv'].map((end) => [`${codec}.${end}`, [...PICTURE, '-c:v', codec, ...more]] as const),
  ),
  ...['mp4', 'mov', 'mkv', 'ts'].map(
    (end) => [`hevc.${end}`, [...PICTURE, '-c:v', 'libx265', '-x265-params', 'log-level=none']] as const,
  ),
  ...['mp4', 'mkv', 'webm'].map(
    (end) => [`vp9.${end}`, [...PICTURE, '-c:v', 'libvpx-vp9', '-cpu-used', '8']] as const,
  ),
  ['vp8.webm', [...PICTURE, '-c:v', 'libvpx', '-cpu-used', '8']],
  ['av1.avif', [...PICTURE, '-c:v', 'libaom-av1', '-cpu-used', '8']],
  // A sample of plain sound is two bytes: 1,764,000 of them.
  [
    'pcm-40-seconds.mov',
    [
      ...PICTURE.map((one) => one.replace('d=1', 'd=40')),
      ...SOUND.map((one) => one.replace('d=1', 'd=40')),
      ...H264,
      '-c:a',
      'pcm_s16le',
    ],
  ],
  ['co64.mp4', [...BOTH, '-use_editlist', '0']],
  ['h264.mkv', BOTH],
  ['h264.avi', [...PICTURE, ...SOUND, ...H264, '-c:a', 'mp3']],
  ['h264.ts', BOTH],
  ['h264.m2ts', [...BOTH, '-f', 'mpegts', '-mpegts_m2ts_mode', '1']],
  ['mpeg2.ts', [...PICTURE, '-c:v', 'mpeg2video']],
  ['live.mkv', [...BOTH, '-live', '1']],
  ['live.webm', [...PICTURE, '-c:v', 'libvpx', '-cpu-used', '8', '-live', '1']],
];

/** Files without a track of pictures. */
export const WITHOUT_PICTURES: readonly (readonly [name: string, args: readonly string[]])[] = [
  ...['mp4', 'm4a', 'mov', 'mkv', 'ts'].map((end) => [`sound.${end}`, [...SOUND, '-c:a', 'aac']] as const),
  ['sound.avi', [...SOUND, '-c:a', 'mp3']],
  ['sound.webm', [...SOUND, '-c:a', 'libopus']],
  ['sound.wav', SOUND],
  ['cover.m4a', [...SOUND, ...STILL, '-c:a', 'aac', '-c:v', 'png', '-disposition:v:0', 'attached_pic']],
  ['still.avif', [...STILL, '-c:v', 'libaom-av1', '-still-picture', '1']],
  ['still.png', STILL],
  ['still.jpg', STILL],
];
