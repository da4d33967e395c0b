// What the worker of a test bundles: your workflows, and fakes in the place of those that buy.
export * from '../plugin/workflows';
export { awaitVideo, editImage, generateImage, generateVideo } from '@temporal-media/testing/workflows';
