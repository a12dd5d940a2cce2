// The files of lm/program/recipes and lm/program/exported, which recipe.cpp and exchange.cpp declare.
// The assembler includes files in the program (.incbin), so that it needs none when it runs and no generated
// source, and a recipe stays a plain TOML file: a new recipe is one file. Nothing else is here: compiled
// alone, for it depends on those files, it takes no time.

asm(".pushsection .rodata.rondo_recipes, \"a\", @progbits\n"
    ".global rondo_recipes\n"
    ".hidden rondo_recipes\n"
    "rondo_recipes:\n"
    ".irp name, " RONDO_RECIPES  // names with commas between them, from CMakeLists.txt
    "\n"
    ".asciz \"\\name\"\n"
    ".incbin \"" RONDO_SOURCE_DIR
    "/lm/program/recipes/\\name\\().toml\"\n"
    ".byte 0\n"
    ".endr\n"
    ".byte 0\n"
    ".popsection\n");

asm(".pushsection .rodata.rondo_exported, \"a\", @progbits\n"
    ".macro exported name\n"
    ".global rondo_exported_\\name\n"
    ".hidden rondo_exported_\\name\n"
    "rondo_exported_\\name:\n"
    ".incbin \"" RONDO_SOURCE_DIR
    "/lm/program/exported/\\name\\().py\"\n"
    ".byte 0\n"
    ".endm\n"
    "exported pytorch\n"
    "exported cells\n"
    "exported onnx\n"
    "exported onnx_translator\n"
    "exported text\n"
    "exported use\n"
    "exported translate\n"
    ".popsection\n");
